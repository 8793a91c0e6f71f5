import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { OwnPostgres } from "../../bench/own-postgres.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { until } from "../agent-packages/machine.ts";
import { assay, startAssay } from "../support/program.ts";
import { startStandby } from "../support/standby.ts";

/**
 * `npm run verify:watching`, which is a part of `npm run verify:release`. It checks the alert rules
 * with promtool, and asks a real Prometheus every expression of the alerts and of the dashboard. The
 * service stands behind a proxy with TLS, and its PostgreSQL has a standby. It needs `prometheus` and `promtool`, which Debian has in the package prometheus.
 */
const ROOT = join(import.meta.dirname, "../..");
const METRICS_PORT = "7856";
const PROMETHEUS = "127.0.0.1:7857";
const PUBLIC_PORT = 7858;
/** A healthy service has no data for these. */
const WITHOUT_DATA = new Set(["Answers that are not 2xx"]);
const work = mkdtempSync(join(tmpdir(), "assay-verify-watching-"));

const promtool = (...args: string[]) =>
	execFileSync("promtool", args, { cwd: work, stdio: "inherit" });

/** Runs a command, and returns the id or the token that it made. */
async function printed(...args: string[]): Promise<string> {
	const { code, stdout, stderr } = await assay([...args, "--json"], settings);
	if (code !== 0) throw new Error(`assay ${args.join(" ")}: ${stderr}`);
	const made = JSON.parse(stdout);
	return made.token ?? made.api_token ?? made.organization_id ?? made.id;
}

interface Dashboard {
	panels: { title: string; targets?: { expr: string }[] }[];
}

/** Asks Prometheus, and returns how many series there are. Throws if the expression is wrong. */
async function countSeries(expression: string): Promise<number> {
	const query = new URLSearchParams({ query: expression });
	const response = await fetch(`http://${PROMETHEUS}/api/v1/query?${query}`);
	const answer = (await response.json()) as {
		status: string;
		error?: string;
		data: { result: unknown[] };
	};
	if (answer.status !== "success") {
		throw new Error(`${expression}: ${answer.error}`);
	}
	return answer.data.result.length;
}

for (const file of ["alerts.yml", "prometheus.yml"]) {
	cpSync(join(ROOT, "deploy/prometheus", file), join(work, file));
}
cpSync(
	join(import.meta.dirname, "alerts.test.yml"),
	join(work, "alerts.test.yml"),
);
promtool("check", "config", "prometheus.yml");
promtool("check", "rules", "--lint=all", "--lint-fatal", "alerts.yml");
promtool("test", "rules", "alerts.test.yml");

const config = readFileSync(join(work, "prometheus.yml"), "utf8")
	.replace("127.0.0.1:9464", `127.0.0.1:${METRICS_PORT}`)
	.replace("scrape_interval: 30s", "scrape_interval: 1s")
	.replace("scrape_timeout: 10s", "scrape_timeout: 1s");
writeFileSync(join(work, "prometheus.yml"), config);
chmodSync(work, 0o711);
writeFileSync(join(work, "authority.pem"), CERTIFICATE);
const primary = await OwnPostgres.create(join(work, "primary"));
const standby = await startStandby(primary, join(work, "standby"), "db2");
const administrator = await primary.connect();
await administrator.query(
	"select pg_create_physical_replication_slot('unread', true)",
);
await administrator.end();
mkdirSync(join(work, "archive"));
const settings = {
	DATABASE_URL: primary.url,
	DATABASE_REPLICA_URL: standby.url,
	ASSAY_METRICS_PORT: METRICS_PORT,
	ASSAY_BASE_URL: `https://localhost:${PUBLIC_PORT}`,
	// A folder on this machine, so that there is a disk with free space.
	ASSAY_ARCHIVE_URL: join(work, "archive"),
	NODE_EXTRA_CA_CERTS: join(work, "authority.pem"),
};
const service = await startAssay(settings);
const proxy = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (from) => {
	const to = connect(Number(new URL(service.url).port), "127.0.0.1");
	for (const socket of [from, to]) {
		socket.on("error", () => {
			from.destroy();
			to.destroy();
		});
	}
	from.pipe(to).pipe(from);
}).listen(PUBLIC_PORT, "127.0.0.1");
const prometheus = spawn(
	"prometheus",
	[
		`--config.file=${join(work, "prometheus.yml")}`,
		`--storage.tsdb.path=${join(work, "tsdb")}`,
		`--web.listen-address=${PROMETHEUS}`,
	],
	{ stdio: "ignore" },
);
const ended = once(prometheus, "exit");
try {
	const org = await printed("org", "create", "--name", "Acme");
	const user = ["--email", "ada@example.com", "--name", "Ada"];
	const role = ["--role", "admin", "--org", org];
	await printed("user", "create", ...user, ...role);
	const token = await printed(
		...["api-token", "create", "--user", "ada@example.com", "--name", "verify"],
	);
	await printed("backup", join(work, "assay.backup"));
	await until("Prometheus reads the service's metrics", async () => {
		return (await countSeries('up{job="assay"} == 1')) === 1;
	});
	const simulating = assay(
		[
			...["simulate", "--url", settings.ASSAY_BASE_URL, "--org", org],
			...["--devices", "5", "--duration", "40"],
		],
		{ ...settings, ASSAY_TOKEN: token },
	);
	const { panels } = JSON.parse(
		readFileSync(join(ROOT, "deploy/grafana/assay.json"), "utf8"),
	) as Dashboard;
	for (const { title, targets = [] } of panels) {
		for (const { expr } of targets) {
			const expression = expr
				.replaceAll("$job", "assay")
				.replaceAll("$__rate_interval", "20s");
			await until(`the dashboard shows: ${title}`, async () => {
				const count = await countSeries(expression);
				return count > 0 || WITHOUT_DATA.has(title);
			});
		}
	}
	const metrics = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`);
	// Prints complaints about names and texts of the metrics, and fails if there are any.
	execFileSync("promtool", ["check", "metrics"], {
		input: await metrics.text(),
		stdio: ["pipe", "inherit", "inherit"],
	});
	const { code, stderr } = await simulating;
	if (code !== 0) throw new Error(stderr);
	const alerts = await fetch(`http://${PROMETHEUS}/api/v1/rules?type=alert`);
	const { data } = (await alerts.json()) as {
		data: { groups: { rules: { name: string; health: string }[] }[] };
	};
	for (const { name, health } of data.groups.flatMap(({ rules }) => rules)) {
		if (health !== "ok") throw new Error(`${name}: ${health}`);
		console.log(`ok  Prometheus evaluates the alert ${name}`);
	}
} finally {
	prometheus.kill("SIGTERM");
	await ended;
	await service.stop("SIGTERM");
	proxy.close();
	await standby.stop();
	await primary.stop();
	rmSync(work, { recursive: true, force: true });
}
