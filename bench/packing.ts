/**
 * Measures how many bytes raw posture reports take as plain rows and packed, how long the packing
 * takes, and how long it takes to read a device's month, one report and a page of a list. The reports
 * are those of simulated devices that report hourly.
 *
 *   node bench/packing.ts [devices, 100 by default] [months, 12 by default]
 *
 * It fills and packs one month after the other, so the disk needs room for one month of plain rows.
 *
 * It makes a database in a temporary folder. With DATABASE_URL, it uses that server's empty database.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { migrate } from "../src/db/migrate.ts";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { packClosedMonths } from "../src/retention/pack-reports.ts";
import { makeFleet } from "./fleet.ts";
import { postgresSeconds } from "./measure.ts";
import { describeMachine } from "./report.ts";
import { seed } from "./seed.ts";
import { closedMonths, fillMonths } from "./year.ts";

const READS = 60;
const ATTEMPTS = 10;
const NOTICED_MS = 2_000;

interface Database {
	connection: ClientConfig;
	/** Process id of PostgreSQL. Without it, the processor times are NaN. */
	pid?: number;
}

const devices = Number(process.argv[2] ?? "100");
const months = Number(process.argv[3] ?? "12");
const url = process.env.DATABASE_URL;
if (url) {
	await measure({ connection: { connectionString: url } });
} else {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	chmodSync(folder, 0o711);
	const postgres = await openEmbeddedPostgres(folder);
	try {
		await measure(postgres);
	} finally {
		await postgres.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

async function measure({ connection, pid }: Database): Promise<void> {
	await migrate(connection);
	const client = new Client(connection);
	// Without a listener, the end of the server after an error would hide that error.
	client.on("error", () => {});
	await client.connect();
	const { rows } = await client.query("show server_version");
	console.log(describeMachine(rows[0].server_version));
	const fleet = makeFleet(devices, 2);
	await seed(client, fleet);
	const sum = { reports: 0, plain: 0, seconds: 0, processor: 0 };
	for (const month of closedMonths(months)) {
		sum.reports += await fillMonths(client, fleet, [month]);
		await client.query("vacuum (analyze) posture_reports");
		await client.query("checkpoint");
		sum.plain += await bytesOf(client, "posture_reports");
		const begun = [performance.now(), postgresSeconds(pid)] as const;
		await pack(connection);
		sum.seconds += (performance.now() - begun[0]) / 1000;
		// The session that packed counts again when PostgreSQL has noticed its end.
		await sleep(NOTICED_MS);
		sum.processor += postgresSeconds(pid) - begun[1];
	}
	await client.query("vacuum (analyze) packed_posture_reports");
	const bytes = await bytesOf(client, "packed_posture_reports");
	const packed = await countPacked(client);
	console.log(
		`${sum.reports} reports of ${CHECK_KEYS.length} results, ${devices} devices\n`,
	);
	console.log("| | |\n| --- | ---: |");
	tell("reports that were packed", packed);
	tell("bytes of a report as a plain row", (sum.plain / packed).toFixed(0));
	tell("bytes of a packed report", (bytes / packed).toFixed(1));
	tell("packing, s", sum.seconds.toFixed(0));
	tell(
		"packing of a report, ms; processor of PostgreSQL, ms",
		[sum.seconds, sum.processor]
			.map((seconds) => ((seconds * 1000) / packed).toFixed(2))
			.join("; "),
	);
	await measureReads(client, pid);
	await client.end();
}

/** Packs the closed months. Tries again if autovacuum held a lock, as the service does. */
async function pack(connection: ClientConfig): Promise<void> {
	for (let left = ATTEMPTS; left > 0; left--) {
		const { isDone, failed } = await packClosedMonths(connection, { rest: 0 });
		if (failed.length > 0) throw new Error("some reports were not packed");
		if (isDone) return;
	}
	throw new Error("the packing did not finish");
}

async function measureReads(client: Client, pid?: number): Promise<void> {
	const { rows } = await client.query<{
		of: [string, string];
		month: string;
		report: string;
	}>(
		`select array[organization_id, device_id]::text[] as of, month::text as month, report_ids[300] as report
		from packed_posture_reports order by random() limit ${READS}`,
	);
	const time = async (name: string, text: string, pick: "month" | "report") => {
		const times: number[] = [];
		const before = postgresSeconds(pid);
		for (const row of rows) {
			const begun = performance.now();
			await client.query({ name, text, values: [...row.of, row[pick]] });
			times.push(performance.now() - begun);
		}
		times.sort((a, b) => a - b);
		const at = (share: number) =>
			times[Math.floor(times.length * share)]?.toFixed(1);
		const processor = ((postgresSeconds(pid) - before) * 1000) / rows.length;
		tell(
			`${name}, ms (median, 95 %; processor of PostgreSQL)`,
			`${at(0.5)}, ${at(0.95)}; ${processor.toFixed(1)}`,
		);
	};
	await time(
		"a device's month with all results",
		"select * from unpack_posture_reports($1, $2, $3, $3)",
		"month",
	);
	await time(
		"one report",
		"select * from find_posture_report($1, $2, $3, '-infinity')",
		"report",
	);
}

async function bytesOf(client: Client, table: string): Promise<number> {
	const { rows } = await client.query<{ bytes: string }>(
		"select sum(pg_total_relation_size(inhrelid)) as bytes from pg_inherits where inhparent = $1::regclass",
		[table],
	);
	return Number(rows[0]?.bytes);
}

async function countPacked(client: Client): Promise<number> {
	const { rows } = await client.query<{ reports: string }>(
		"select sum(cardinality(report_ids)) as reports from packed_posture_reports",
	);
	return Number(rows[0]?.reports);
}

function tell(what: string, figure: string | number): void {
	console.log(`| ${what} | ${figure} |`);
}
