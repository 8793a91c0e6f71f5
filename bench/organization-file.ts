/**
 * Measures `assay org export` and `org import` with an organization of 2,000 devices and a year of
 * history: a new span of each check every month, 100,000 entries of the audit log, and many
 * raw posture reports. It runs the commands as users do and prints the time, the size and the peak
 * memory of each process.
 *
 *   node bench/organization-file.ts [number of raw reports, 100000 by default]
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { migrate } from "../src/db/migrate.ts";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { makeFleet } from "./fleet.ts";
import { describeMachine } from "./report.ts";
import { seed } from "./seed.ts";

const DEVICES = 2_000;
const SPANS = 12;
const ENTRIES = 100_000;
const PROGRAM = join(import.meta.dirname, "../bin/assay.js");
/** A module that prints the peak memory (KiB) and the processor time (µs) of its process. */
const TELL_USAGE =
	"data:text/javascript,process.on('exit',()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();console.error('peak '+maxRSS+' cpu '+(userCPUTime+systemCPUTime))})";

const count = Number(process.argv[2] ?? "100000");
const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
chmodSync(folder, 0o711);
try {
	const fleet = makeFleet(DEVICES, 1);
	const id = fleet.organizations[0] as string;
	console.log(describeMachine(await makeDatabase(fleet)));
	console.log(
		`${DEVICES} devices, ${DEVICES * CHECK_KEYS.length * SPANS} spans, ${ENTRIES} audit entries, ${count} raw reports\n`,
	);
	console.log(
		"| | s | s of processor | peak MiB | MB |\n| --- | ---: | ---: | ---: | ---: |",
	);
	await run("to", "org", "create", "--name", "Other");
	const whole = join(folder, "whole");
	const small = join(folder, "small");
	await tell("export", whole, "from", "org", "export", id, whole);
	await tell("import", whole, "to", "org", "import", whole);
	const without = ["--without-reports", "--no-audit-check"];
	await tell(
		"export --without-reports --no-audit-check",
		small,
		"from",
		...["org", "export", id, small, ...without],
	);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

async function makeDatabase(
	fleet: ReturnType<typeof makeFleet>,
): Promise<string> {
	const postgres = await openEmbeddedPostgres(join(folder, "from"));
	await migrate(postgres.connection);
	const client = new Client(postgres.connection);
	await client.connect();
	await seed(client, fleet);
	await client.query("select ensure_posture_report_partitions()");
	await client.query(
		`insert into posture_spans
		select d.organization_id, d.id, 'CHECK_' || c, now() - m * interval '1 month',
			now() - (m - 1) * interval '1 month', case when m % 2 = 0 then 'FAIL' else 'PASS' end,
			d.id, d.id, m = 1
		from devices d, generate_series(1, ${CHECK_KEYS.length}) c, generate_series(1, ${SPANS}) m`,
	);
	await client.query("delete from events");
	for (let done = 0; done < ENTRIES; done += 10_000) {
		await client.query(
			`select audit_append(o.id, (
				select jsonb_agg(jsonb_build_object(
					'actor_kind', 'SYSTEM', 'actor_name', 'benchmark', 'operation', 'updateRisk',
					'changes', jsonb_build_object('note', jsonb_build_object('before', md5(n::text), 'after', md5('x' || n)))
				))
				from generate_series(1, 10000) n
			)) from organizations o`,
		);
	}
	await client.query(
		`insert into posture_reports (organization_id, device_id, report_id, received_at, results)
		select d.organization_id, d.id, left(d.id, 11) || translate(left(md5(n::text), 21), '=', 'A'),
			now() - n % 365 * interval '1 day', (
			select jsonb_agg(jsonb_build_object(
				'check_key', 'CHECK_' || c,
				'status', case when (n + c) % ${CHECK_KEYS.length} = 0 then 'FAIL' else 'PASS' end,
				'observed_at', now() - n * interval '1 second',
				'evidence', jsonb_build_object('tool', 'lsblk', 'value', md5((n * c)::text))
			))
			from generate_series(1, ${CHECK_KEYS.length}) c
		)
		from generate_series(0, $1::integer - 1) n
		join (select organization_id, id, row_number() over (order by id) - 1 as i from devices) d on d.i = n % ${DEVICES}`,
		[count],
	);
	const { rows } = await client.query("show server_version");
	await client.end();
	await postgres.close();
	return rows[0].server_version;
}

async function tell(
	name: string,
	file: string,
	...args: [string, ...string[]]
) {
	const { seconds, cpuSeconds, peakMiB } = await run(...args);
	console.log(
		`| ${name} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${peakMiB} | ${(statSync(file).size / 1e6).toFixed(1)} |`,
	);
}

async function run(data: string, ...args: string[]) {
	const start = performance.now();
	const { stderr } = await promisify(execFile)(
		process.execPath,
		["--import", TELL_USAGE, PROGRAM, ...args],
		{ env: { PATH: process.env.PATH, ASSAY_DATA_DIR: join(folder, data) } },
	);
	return {
		seconds: (performance.now() - start) / 1000,
		cpuSeconds: Number(/cpu (\d+)/.exec(stderr)?.[1]) / 1e6,
		peakMiB: Math.round(Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024),
	};
}
