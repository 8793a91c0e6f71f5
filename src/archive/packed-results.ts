import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import type { ResultRow } from "./parquet-file.ts";

/** Number of reports that are read in a statement. */
const FETCHED_REPORTS = 500;

interface PackedReport {
	device_id: string;
	report_id: string;
	received_at_us: string;
	/** JSON. */
	results: string;
}

interface StoredResult {
	check_key?: string;
	status?: string;
	observed_at?: string;
	evidence?: unknown;
}

/**
 * Reads the results of the packed reports of these devices in a month, in the order of the devices
 * and of their reports. After each statement it rests for `rest` times its duration.
 */
export async function* readPackedResults(
	client: Client,
	of: {
		organizationId: string;
		/** The first day of the month. */
		month: string;
		firstDevice: string;
		lastDevice: string;
	},
	rest = 1,
): AsyncGenerator<ResultRow> {
	await client.query("begin read only");
	try {
		await client.query(setRole("agent", "transaction"));
		await client.query(
			`declare results no scroll cursor for
			select p.device_id, u.report_id, u.received_at_us, u.results
			from packed_posture_reports p
			cross join lateral (
				select r.report_id, (extract(epoch from r.received_at) * 1000000)::bigint::text as received_at_us, r.results
				from unpack_reports(
					p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
				) r
			) u
			where p.organization_id = $1 and p.month = $2 and p.device_id between $3 and $4
			order by p.device_id, p.part`,
			[of.organizationId, of.month, of.firstDevice, of.lastDevice],
		);
		for (;;) {
			const begun = performance.now();
			const { rows } = await client.query<PackedReport>(
				`fetch ${FETCHED_REPORTS} from results`,
			);
			for (const report of rows) yield* resultsOf(report);
			if (rows.length < FETCHED_REPORTS) return;
			await sleep((performance.now() - begun) * rest);
		}
	} finally {
		await client.query("rollback").catch(() => {});
	}
}

function* resultsOf(report: PackedReport): Generator<ResultRow> {
	const received_at = BigInt(report.received_at_us);
	for (const result of JSON.parse(report.results) as StoredResult[]) {
		yield {
			device_id: report.device_id,
			report_id: report.report_id,
			received_at,
			check_key: result.check_key ?? null,
			status: result.status ?? null,
			observed_at: microsecondsOf(result.observed_at),
			evidence:
				result.evidence === undefined ? null : JSON.stringify(result.evidence),
		};
	}
}

function microsecondsOf(time: string | undefined): bigint | null {
	if (time === undefined) return null;
	const match = /^(.{19})(?:\.(\d{1,6}))?Z$/.exec(time);
	if (!match) return null;
	const [, seconds, fraction = ""] = match;
	return (
		BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, "0"))
	);
}
