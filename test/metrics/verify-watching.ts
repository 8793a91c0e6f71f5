import { execFileSync, spawn } from "node:child_process";
import {
	copyFileSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assay, startAssay } from "../support/program.ts";

/**
 * `npm run verify:watching` proves the files that watch a service: promtool checks the rules, and a
 * real Prometheus reads a service, evaluates each alert, and answers each query of the dashboard.
 * It needs Prometheus (`apt-get install prometheus`).
 */
const DEPLOY = join(import.meta.dirname, "../../deploy");
const PORT = 19_090;
const SCRAPES_MS = 20_000;

const HEARTBEAT = {
	hardware_uuid: "5c2d0c3e-6b0e-4b53-9c9b-0a3c5f7d1e21",
	serial_number: "C02XK1",
	hostname: "laptop",
	platform: "LINUX",
	os_version: "Debian 12",
	agent_version: "1.0.0",
};

const folder = mkdtempSync(join(tmpdir(), "assay-watching-"));
const say = (text: string) => process.stdout.write(`${text}\n`);

/** Returns our example with this service's port, and with intervals for the impatient. */
function configFor(target: string): string {
	copyFileSync(
		join(DEPLOY, "prometheus/alerts.yml"),
		join(folder, "alerts.yml"),
	);
	return readFileSync(join(DEPLOY, "prometheus/prometheus.yml"), "utf8")
		.replace("127.0.0.1:9464", target)
		.replace("scrape_interval: 30s", "scrape_interval: 2s")
		.replace("scrape_timeout: 10s", "scrape_timeout: 2s")
		.concat("global:\n  evaluation_interval: 2s\n");
}

async function ask(path: string): Promise<{ data: never }> {
	const answer = await fetch(`http://127.0.0.1:${PORT}/api/v1/${path}`);
	const body = (await answer.json()) as { status: string; error?: string };
	if (body.status !== "success") throw new Error(`${path}: ${body.error}`);
	return body as never;
}

interface Panel {
	title: string;
	targets?: { expr: string }[];
}

/** Returns the queries of the dashboard, as Grafana would send them. */
function queries(): { title: string; query: string }[] {
	const { panels }: { panels: Panel[] } = JSON.parse(
		readFileSync(join(DEPLOY, "grafana/assay.json"), "utf8"),
	);
	return panels.flatMap(({ title, targets = [] }) =>
		targets.map(({ expr }) => ({
			title,
			query: expr
				.replaceAll("$job", "assay")
				.replaceAll("$__rate_interval", "10s"),
		})),
	);
}

/** Enrolls a device. Returns a function that sends one heartbeat, and one that is refused. */
async function enrolled(url: string, settings: Record<string, string>) {
	const printed = async (...args: string[]) => {
		const { code, stdout, stderr } = await assay([...args, "--json"], settings);
		if (code !== 0) throw new Error(`assay ${args.join(" ")}: ${stderr}`);
		return JSON.parse(stdout);
	};
	const post = async (path: string, body: object, token = "") => {
		const answer = await fetch(`${url}${path}`, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				authorization: `Bearer ${token}`,
			},
			body: JSON.stringify(body),
		});
		const text = await answer.text();
		return text === "" ? {} : JSON.parse(text);
	};
	const org = await printed("org", "create", "--name", "Acme");
	const user = ["--email", "ada@example.com", "--name", "Ada"];
	const id = org.organization_id ?? org.id;
	await printed("user", "create", ...user, "--org", id, "--role", "admin");
	const made = await printed(
		...["api-token", "create", "--user", "ada@example.com", "--name", "watch"],
	);
	const { enrollment_token } = await post(
		"/api/mcp/tools/addDevice",
		{ organization_id: id, name: "laptop" },
		made.token ?? made.api_token,
	);
	const AGENT = "/api/agent/v1";
	const { api_key } = await post(`${AGENT}/enroll`, {
		token: enrollment_token,
	});
	return async () => {
		await post(`${AGENT}/heartbeat`, HEARTBEAT, api_key);
		await post(`${AGENT}/heartbeat`, { hostname: 1 }, api_key);
	};
}

async function verify(): Promise<void> {
	const settings = {
		ASSAY_DATA_DIR: join(folder, "assay"),
		ASSAY_METRICS_PORT: "0",
	};
	const service = await startAssay(settings);
	let isStopped = false;
	const target = new URL(service.metricsUrl ?? "").host;
	const file = join(folder, "prometheus.yml");
	writeFileSync(file, configFor(target));
	say(
		execFileSync("promtool", ["check", "config", file], { encoding: "utf8" }),
	);
	const prometheus = spawn(
		"prometheus",
		[
			`--config.file=${file}`,
			`--storage.tsdb.path=${join(folder, "data")}`,
			`--web.listen-address=127.0.0.1:${PORT}`,
		],
		{ stdio: "ignore" },
	);
	try {
		const beat = await enrolled(service.url, settings);
		const ends = Date.now() + SCRAPES_MS;
		while (Date.now() < ends) {
			await beat();
			await new Promise((done) => setTimeout(done, 200));
		}
		const { data } = await ask("rules");
		const [{ rules }] = (data as { groups: [{ rules: Rule[] }] }).groups;
		for (const { name, health, lastError, state } of rules) {
			say(
				`${health === "ok" ? "ok  " : "FAIL"} alert ${name}: ${state} ${lastError ?? ""}`,
			);
			if (health !== "ok") process.exitCode = 1;
			// The service answers, has no backup from a day ago, and fails at nothing.
			if (state === "firing") process.exitCode = 1;
		}
		for (const { title, query } of queries()) {
			const { data } = await ask(`query?query=${encodeURIComponent(query)}`);
			const series = (data as { result: unknown[] }).result.length;
			say(`${series > 0 ? "ok  " : "none"} ${title}: ${series} series`);
			if (series === 0) process.exitCode = 1;
		}
		await service.stop("SIGTERM");
		isStopped = true;
		const isNoticed = async () => {
			const { data } = await ask("alerts");
			return JSON.stringify(data).includes("AssayIsDown");
		};
		const patience = Date.now() + SCRAPES_MS;
		while (!(await isNoticed()) && Date.now() < patience) {
			await new Promise((done) => setTimeout(done, 500));
		}
		const isSeen = await isNoticed();
		say(
			`${isSeen ? "ok  " : "FAIL"} AssayIsDown notices that the service stopped`,
		);
		if (!isSeen) process.exitCode = 1;
	} finally {
		prometheus.kill();
		if (!isStopped) await service.stop("SIGTERM");
		rmSync(folder, { recursive: true, force: true });
	}
}

interface Rule {
	name: string;
	health: string;
	state: string;
	lastError?: string;
}

await verify();
