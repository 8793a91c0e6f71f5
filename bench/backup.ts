/**
 * Measures `assay backup`, `backup --verify` and `restore` on a database of its own with many raw
 * posture reports. It runs the commands as users do and prints the time, the size and the peak
 * memory of each process.
 *
 *   node bench/backup.ts [number of rows, 1000000 by default]
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

const DEVICES = 10_000;
const PROGRAM = join(import.meta.dirname, "../bin/assay.js");
/**
 * A module that prints the peak memory (KiB) and the processor time (µs) of its process when the
 * process ends.
 */
const TELL_USAGE =
	"data:text/javascript,process.on('exit',()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();console.error('peak '+maxRSS+' cpu '+(userCPUTime+systemCPUTime))})";

const count = Number(process.argv[2] ?? "1000000");
const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
chmodSync(folder, 0o711);
const file = join(folder, "backup");
try {
	const version = await makeDatabase(join(folder, "from"));
	console.log(describeMachine(version));
	console.log(
		`${count} raw reports of ${CHECK_KEYS.length} results, ${DEVICES} devices\n`,
	);
	console.log(
		"| | s | MB/s of text | s of processor | peak MiB |\n| --- | ---: | ---: | ---: | ---: |",
	);
	const backup = await run("from", "backup", file);
	const verified = await run("from", "backup", "--verify", file);
	const restored = await run("to", "restore", file);
	const bytes = await textBytes();
	for (const [name, { seconds, cpuSeconds, peakMiB }] of Object.entries({
		backup,
		"backup --verify": verified,
		restore: restored,
	})) {
		console.log(
			`| ${name} | ${seconds.toFixed(1)} | ${(bytes / 1e6 / seconds).toFixed(0)} | ${cpuSeconds.toFixed(1)} | ${peakMiB} |`,
		);
	}
	console.log(
		`\n${(bytes / 1e6).toFixed(0)} MB of text, ${(statSync(file).size / 1e6).toFixed(0)} MB in the file`,
	);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

async function makeDatabase(dataDir: string): Promise<string> {
	const postgres = await openEmbeddedPostgres(dataDir);
	await migrate(postgres.connection);
	const client = new Client(postgres.connection);
	await client.connect();
	await seed(client, makeFleet(DEVICES, 20));
	await client.query(
		`select audit_append(id, '[{"actor_kind": "SYSTEM", "actor_name": "benchmark", "operation": "createOrganization"}]')
		from organizations`,
	);
	await client.query("select ensure_posture_report_partitions()");
	await client.query(
		`
		insert into posture_reports (organization_id, device_id, report_id, results)
		select d.organization_id, d.id, left(d.id, 11) || translate(left(md5(n::text), 21), '=', 'A'), (
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

async function run(data: string, ...args: string[]) {
	const start = performance.now();
	const { stderr } = await promisify(execFile)(
		process.execPath,
		["--import", TELL_USAGE, PROGRAM, ...args],
		{
			env: {
				PATH: process.env.PATH,
				ASSAY_DATA_DIR: join(folder, data),
			},
		},
	);
	return {
		seconds: (performance.now() - start) / 1000,
		cpuSeconds: Number(/cpu (\d+)/.exec(stderr)?.[1]) / 1e6,
		peakMiB: Math.round(Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024),
	};
}

/** Returns the number of bytes that COPY has written, before compression with zstd. */
async function textBytes(): Promise<number> {
	const { createReadStream } = await import("node:fs");
	const { createZstdDecompress } = await import("node:zlib");
	let bytes = 0;
	for await (const chunk of createReadStream(file).pipe(
		createZstdDecompress(),
	)) {
		bytes += chunk.length;
	}
	return bytes;
}
