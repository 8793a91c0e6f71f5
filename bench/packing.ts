/**
 * Measures how many bytes raw posture reports take as plain rows and packed, how long the packing
 * takes, and how long it takes to read a device's month, one report and a page of a list. The reports
 * are those of simulated devices that report hourly.
 *
 *   node bench/packing.ts [devices, 100 by default] [months, 12 by default]
 *
 * It makes a database in a temporary folder. With DATABASE_URL, it uses that server's empty database.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { migrate } from "../src/db/migrate.ts";
import { packClosedMonths } from "../src/retention/pack-reports.ts";
import { makeFleet } from "./fleet.ts";
import { describeMachine } from "./report.ts";
import { seed } from "./seed.ts";
import { closedMonths, fillMonths } from "./year.ts";

const READS = 60;

const devices = Number(process.argv[2] ?? "100");
const months = Number(process.argv[3] ?? "12");
const url = process.env.DATABASE_URL;
if (url) {
	await measure({ connectionString: url });
} else {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	chmodSync(folder, 0o711);
	const postgres = await openEmbeddedPostgres(folder);
	try {
		await measure(postgres.connection);
	} finally {
		await postgres.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

async function measure(connection: ClientConfig): Promise<void> {
	await migrate(connection);
	const client = new Client(connection);
	await client.connect();
	const { rows } = await client.query("show server_version");
	console.log(describeMachine(rows[0].server_version));
	const fleet = makeFleet(devices, 2);
	await seed(client, fleet);
	const names = closedMonths(months);
	const count = await fillMonths(client, fleet, names);
	await client.query("vacuum (analyze) posture_reports");
	const plain = await bytesOf(client, "posture_reports");
	console.log(`${count} reports of nine results, ${devices} devices\n`);

	const begun = performance.now();
	const { packed, isDone } = await packClosedMonths(connection, { rest: 0 });
	const seconds = (performance.now() - begun) / 1000;
	if (!isDone) throw new Error("the packing did not finish");
	await client.query("vacuum (analyze) packed_posture_reports");
	const bytes = await bytesOf(client, "packed_posture_reports");
	console.log("| | |\n| --- | ---: |");
	tell("bytes of a report as a plain row", (plain / count).toFixed(0));
	const packedCount = await countPacked(client);
	tell("bytes of a packed report", (bytes / packedCount).toFixed(1));
	tell(`packing of ${packed.length} months, s`, seconds.toFixed(0));
	tell(
		"packing of a report, ms",
		((seconds * 1000) / Math.max(packedCount, 1)).toFixed(2),
	);
	await measureReads(client);
	await client.end();
}

async function measureReads(client: Client): Promise<void> {
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
		for (const row of rows) {
			const begun = performance.now();
			await client.query({ name, text, values: [...row.of, row[pick]] });
			times.push(performance.now() - begun);
		}
		times.sort((a, b) => a - b);
		tell(
			`${name}, ms (median, 95 %)`,
			`${times[READS / 2]?.toFixed(1)}, ${times[Math.floor(READS * 0.95)]?.toFixed(1)}`,
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

function tell(what: string, figure: string): void {
	console.log(`| ${what} | ${figure} |`);
}
