import { randomBytes } from "node:crypto";
import { ID_KINDS } from "../../src/id.ts";
import type { TestDatabase } from "./database.ts";
import type { TestFleet } from "./devices.ts";
import type { TestDevice } from "./service.ts";

/** Returns the first day of the month `ago` months before this one. */
export function monthAgo(ago: number): string {
	const now = new Date();
	return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1))
		.toISOString()
		.slice(0, 10);
}

/** Returns a time in a month, `hours` after its beginning. */
export function within(month: string, hours: number): string {
	return new Date(Date.parse(month) + hours * 3_600_000).toISOString();
}

/** Returns the id of a report that an agent made at this time. */
export function reportIdAt(deviceId: string, at: string): string {
	const bytes = Buffer.from(deviceId, "base64url");
	bytes.writeUInt16BE(ID_KINDS.device_posture_report, 8);
	bytes.writeBigUInt64BE(BigInt(Date.parse(at)), 10);
	randomBytes(6).copy(bytes, 18);
	return bytes.toString("base64url");
}

/** Sends a report that the device made and observed at this time. Returns the report's id. */
export async function sendReportAt(
	fleet: TestFleet,
	device: TestDevice,
	at: string,
	...results: Record<string, unknown>[]
): Promise<string> {
	const correlation_id = reportIdAt(device.id, at);
	await fleet.report(
		device,
		...results.map((result) => ({
			observed_at: at,
			correlation_id,
			...result,
		})),
	);
	return correlation_id;
}

/** Makes it look as if all stored reports were received a second after their observations. */
export async function dateReports(
	{ owner }: TestDatabase,
	months: readonly string[],
): Promise<void> {
	for (const month of months) {
		await owner.query("select make_posture_report_partition($1)", [month]);
	}
	await owner.query(
		`update posture_reports
		set received_at = (results -> 0 ->> 'observed_at')::timestamptz + interval '1.234567 seconds'
		where jsonb_array_length(results) > 0`,
	);
}

/** Returns all reports in their exact form, wherever they are stored. */
export async function readReports({ owner }: TestDatabase): Promise<string[]> {
	const { rows } = await owner.query<{ report: string }>(`
		select concat_ws(' ', organization_id, device_id, report_id, received_at, results) as report
		from (
			select organization_id, device_id, report_id, received_at, results::text from posture_reports
			union all
			select p.organization_id, p.device_id, u.report_id, u.received_at, u.results::jsonb::text
			from packed_posture_reports p
			cross join lateral unpack_reports(
				p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
			) u
		) r
		order by 1`);
	return rows.map(({ report }) => report);
}

export async function countPlaces({
	owner,
}: TestDatabase): Promise<{ plain: number; packed: number }> {
	const { rows } = await owner.query<{ plain: number; packed: number }>(`
		select
			(select count(*)::integer from posture_reports) as plain,
			(select coalesce(sum(cardinality(report_ids)), 0)::integer from packed_posture_reports) as packed`);
	return rows[0] as { plain: number; packed: number };
}
