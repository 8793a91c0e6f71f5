import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { BACKUP_FOLDER } from "../../src/backup/file.ts";
import { readConfig } from "../../src/config/config.ts";

/** This file compares the examples for deployment with the program that they describe. */

const ROOT = join(import.meta.dirname, "../..");

async function filesBelow(folder: string): Promise<string[]> {
	const entries = await readdir(join(ROOT, folder), {
		recursive: true,
		withFileTypes: true,
	});
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
		.sort();
}

const read = (file: string) => readFile(join(ROOT, file), "utf8");

const DOCS = ["docs/deploying.md", "docs/scaling.md", "docs/backup.md"];
const files = [...(await filesBelow("deploy")), ...DOCS];
const texts = await Promise.all(
	files.map(async (file) => [file, await read(file)] as const),
);

test.each(texts)("%s mentions only settings that exist", (_, text) => {
	const names = new Set(text.match(/\bASSAY_[A-Z0-9_]+\b/g));
	for (const name of names) {
		// An unknown setting stops the start, whatever its value. An empty setting counts as absent.
		expect(() => readConfig({ [name]: "" }), name).not.toThrow();
	}
});

test.each(
	texts,
)("%s gives the file in each call of docker compose", (_, text) => {
	expect(text).not.toMatch(/docker compose (?!-f deploy\/compose\.yaml )/);
});

test("the nightly backup has the same settings, user and limits as the service", async () => {
	const settings = async (file: string, names: RegExp) =>
		(await read(`deploy/${file}`)).match(names);
	const same =
		/^(?:User|Group|WorkingDirectory|Environment|EnvironmentFile)=.*$/gm;
	const service = await settings("assay.service", same);
	expect(service).toContain("EnvironmentFile=-/etc/assay.env");
	expect(await settings("assay-backup.service", same)).toEqual(service);
	const limits =
		/^(?:Protect|Private|Restrict|NoNew|Capability|Ambient|Lock|SystemCall).*$/gm;
	const limitsOfService = await settings("assay.service", limits);
	expect(limitsOfService).toContain("SystemCallFilter=@system-service");
	expect(await settings("assay-backup.service", limits)).toEqual(
		limitsOfService,
	);
});

test("containers have a volume for backups where commands look for them, with the owner that writes there", async () => {
	const { services, volumes } = parse(await read("deploy/compose.yaml"));
	expect(services.assay.volumes).toEqual([`backups:${BACKUP_FOLDER}`]);
	expect(volumes).toHaveProperty("backups");
	// A new volume gets the owner and the mode of the folder in the image.
	expect(await read("deploy/Dockerfile")).toMatch(
		new RegExp(
			`^RUN install -d -o node -g node -m 0700 .*${BACKUP_FOLDER}\\b`,
			"m",
		),
	);
	expect(await read("docs/backup.md")).toContain(
		`assay backup --delete-old ${BACKUP_FOLDER}/assay-$(date +\\%Y-\\%m-\\%dT\\%H\\%M\\%S).backup`,
	);
});

test("an unknown setting would be found", () => {
	const misspelt = "ASSAY_PROT";
	expect(() => readConfig({ [misspelt]: "" })).toThrow(misspelt);
});

test.each(texts)("%s mentions only files that exist", (file, text) => {
	const named = [
		...[...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path]) =>
			resolve(ROOT, dirname(file), path ?? ""),
		),
		...[
			...text.matchAll(
				/(?<![\w/.-])(?:\/opt\/assay\/|\/app\/)?((?:bin|bench|deploy|docs|test|src|sql)\/[\w/.-]+\w)/g,
			),
		].map(([, path]) => join(ROOT, path ?? "")),
	];
	for (const path of named) expect(existsSync(path), path).toBe(true);
});

test.each(
	texts,
)("%s uses only health addresses that exist", async (_, text) => {
	const health = await read("src/http/health.ts");
	for (const [address] of text.matchAll(/\/health\/\w+/g)) {
		expect(health).toContain(`"${address}"`);
	}
});

test("the ports are the same everywhere", async () => {
	const { port } = readConfig({});
	const at = async (file: string) => await read(`deploy/${file}`);
	const docker = await at("Dockerfile");
	expect(docker).toContain(`ASSAY_PORT=${port}`);
	expect(docker).toContain(`EXPOSE ${port}`);
	expect(await at("nginx.conf")).toContain(`server 127.0.0.1:${port} `);
	expect(await at("Caddyfile")).toContain(`reverse_proxy 127.0.0.1:${port} `);
	const compose = parse(await at("compose.yaml"));
	expect(compose.services.assay.ports).toEqual([`127.0.0.1:${port}:${port}`]);
	const chart = await at("helm/assay/templates/deployment.yaml");
	expect(chart).toContain(`value: "${port}"`);
	expect(chart).toContain(`containerPort: ${port}`);
	const metrics = compose.services.assay.environment.ASSAY_METRICS_PORT;
	expect(chart).toContain(`value: "${metrics}"`);
	expect(chart).toContain(`containerPort: ${metrics}`);
	// Prometheus sends its requests from outside the container.
	expect(compose.services.assay.environment.ASSAY_METRICS_HOST).toBe("0.0.0.0");
	expect(chart).toMatch(/name: ASSAY_METRICS_HOST\s+value: "0\.0\.0\.0"/);
});

test("the compose file has secrets only in files that neither git nor an image gets", async () => {
	const { services, secrets } = parse(await read("deploy/compose.yaml"));
	const used = new Set<string>();
	for (const { environment, secrets: given } of Object.values(services) as {
		environment: Record<string, string>;
		secrets: string[];
	}[]) {
		for (const [name, value] of Object.entries(environment)) {
			expect(name).not.toMatch(/(?:SECRET|PASSWORD|DATABASE_URL)$/);
			const [, file] = value.match(/^\/run\/secrets\/(\w+)$/) ?? [];
			if (file === undefined) continue;
			expect(name).toMatch(/_FILE$/);
			expect(given).toContain(file);
			used.add(file);
		}
		expect(services.postgres.mem_limit).toBeDefined();
	}
	expect(Object.keys(secrets).sort()).toEqual([...used].sort());
	const ignored = (await read(".gitignore")).split("\n");
	expect(ignored).toContain("/deploy/secrets/");
	expect(ignored).toContain("/deploy/.env");
	expect(services.assay.env_file).toBe(".env");
	// An image contains only what this file names.
	const wanted = (await read(".dockerignore")).split("\n");
	expect(wanted).toContain("*");
	expect(wanted.some((line) => line.startsWith("!deploy"))).toBe(false);
});

describe("proxies", () => {
	test("set the address of a request themselves, whatever the client wrote", async () => {
		const nginx = await read("deploy/nginx.conf");
		const locations = nginx.split(/^\tlocation /m).slice(1);
		const passing = locations.filter((text) => text.includes("proxy_pass"));
		expect(passing.length).toBeGreaterThan(1);
		for (const location of passing) {
			// In nginx, a location that sets a header does not inherit those of the server.
			expect(location).toContain(
				"proxy_set_header X-Forwarded-For $remote_addr;",
			);
			// $host lacks the port, and the service compares the whole address.
			expect(location).toContain("proxy_set_header Host $http_host;");
		}
		expect(await read("deploy/haproxy/service.cfg")).toContain(
			"\thttp-request set-header X-Forwarded-For %[src]\n",
		);
		// Caddy sets the address itself unless the file says to trust other proxies or to write another
		// value.
		expect(await read("deploy/Caddyfile")).not.toMatch(
			/^\s*(trusted_proxies\b|header_up\s+[-+]?X-Forwarded-For)/im,
		);
	});

	test.each([
		[
			"nginx.conf",
			/location \/api\/ \{\s+default_type text\/plain;\s+return 403 /,
		],
		["haproxy/service.cfg", /return status 403 .* if \{ path_beg \/api\/ \}/],
		["Caddyfile", /http:\/\/\S+ \{\s+handle \/api\/\* \{\s+respond ".*" 403/],
	])("%s redirects pages to https and rejects programs that use http", async (file, refusal) => {
		const text = await read(`deploy/${file}`);
		expect(text).toMatch(refusal);
		expect(text.match(/\b308\b/g)).toHaveLength(1);
	});
});

describe("the alerts", () => {
	test("refer to the service by the name that Prometheus uses", async () => {
		const { scrape_configs } = parse(
			await read("deploy/prometheus/prometheus.yml"),
		);
		const alerts = await read("deploy/prometheus/alerts.yml");
		const names = [...alerts.matchAll(/job="([^"]+)"/g)].map(
			([, name]) => name,
		);
		expect(new Set(names)).toEqual(new Set([scrape_configs[0].job_name]));
		expect(alerts).toContain("absent(up{");
	});

	test("do not add up numbers that every process reports about the whole database", async () => {
		for (const file of ["prometheus/alerts.yml", "grafana/assay.json"]) {
			const text = await read(`deploy/${file}`);
			expect(text).toMatch(/max by \(\w+\) \(assay_devices\{/);
			expect(text).not.toMatch(/\bsum\b[^(]*(\([^()]*\) *)?\(assay_devices/);
		}
	});
});

test("every supervisor waits longer than the service takes to stop", async () => {
	const [, drainMs] =
		(await read("src/serve.ts")).match(/DRAIN_MS = ([\d_]+)/) ?? [];
	const drain = Number(drainMs?.replaceAll("_", "")) / 1000;
	expect(drain).toBeGreaterThan(0);
	const secondsIn = async (file: string, pattern: RegExp) =>
		Number((await read(`deploy/${file}`)).match(pattern)?.[1]);
	for (const seconds of [
		await secondsIn("assay.service", /TimeoutStopSec=(\d+)/),
		await secondsIn("compose.yaml", /stop_grace_period: (\d+)s/),
		await secondsIn(
			"helm/assay/templates/deployment.yaml",
			/terminationGracePeriodSeconds: (\d+)/,
		),
	]) {
		expect(seconds).toBeGreaterThan(drain + 5);
	}
});

describe("the chart", () => {
	const chart = "deploy/helm/assay";
	const templates = texts.filter(([file]) =>
		file.startsWith(`${chart}/templates/`),
	);

	test.each(
		templates,
	)("%s uses only values that exist, and closes every block", async (_, text) => {
		const values = parse(await read(`${chart}/values.yaml`));
		for (const [, path = ""] of text.matchAll(/\.Values\.([\w.]+)/g)) {
			const found = path
				.split(".")
				.reduce<unknown>(
					(value, key) => (value as Record<string, unknown>)?.[key],
					values,
				);
			expect(found, path).toBeDefined();
		}
		const count = (pattern: RegExp) => (text.match(pattern) ?? []).length;
		expect(count(/\{\{-? (?:if|with|range)\b/g)).toBe(
			count(/\{\{-? end \}\}/g),
		);
		// Without the template's own lines and values, the rest must be YAML.
		const plain = text
			.replace(/^.*\{\{-? (?:if|end|with|else|fail|toYaml|\$\w+ :=).*$/gm, "")
			.replace(/"\{\{[^\n]*?\}\}(?::\{\{[^\n]*?\}\})?"/g, "value")
			.replace(/\{\{[^\n]*?\}\}/g, "value");
		expect(parse(plain)).toHaveProperty("kind");
	});

	test("has the version of the program that it deploys", async () => {
		const { version } = JSON.parse(await read("package.json"));
		expect(parse(await read(`${chart}/Chart.yaml`))).toMatchObject({
			version,
			appVersion: version,
		});
	});
});

test.each(
	texts.filter(
		([file]) => /\.ya?ml$/.test(file) && !file.includes("/templates/"),
	),
)("%s is YAML", (_, text) => {
	expect(parse(text)).toBeTypeOf("object");
});

test("the image contains every folder that the program reads", async () => {
	const docker = await read("deploy/Dockerfile");
	const { files: packed } = JSON.parse(await read("package.json"));
	// The npm package and the image contain the same folders, except for the documentation.
	for (const name of packed as string[]) {
		const folder = name.replace(/\/\*\.sql$/, "");
		if (/^!|\.md$|^server\.json$/.test(folder)) continue;
		expect(docker).toContain(` /app/${folder} ${folder}`.replace("COPY ", ""));
	}
	const kept = (await read(".dockerignore")).split("\n");
	for (const [, path] of docker.matchAll(/^COPY (?!--)([\w.-]+)\/?/gm)) {
		if (path !== ".") expect(kept).toContain(`!${path}`);
	}
});
