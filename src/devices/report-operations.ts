import { z } from "zod";
import { textArray } from "../db/array.ts";
import { AppError } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import {
	byTime,
	listInput,
	type Order,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema } from "../records/text-schemas.ts";
import {
	checkName,
	deviceId,
	evidence,
	postureStatus,
} from "./device-record.ts";
import { ofDevice, requireDevice } from "./posture-operations.ts";
import type { Evidence, PostureStatus } from "./terms.ts";
import { visibleValue } from "./visible-text.ts";

/** Returns an SQL expression that counts the results with this status in a report `t`. */
const resultsOf = (status: PostureStatus) =>
	`(select count(*)::int from jsonb_array_elements(t.results) e where e ->> 'status' = '${status}')`;

// The list orders by the times of all reports of a device, and reads the results of one page only.
const REPORTS = `(
	select organization_id, device_id, report_id as id, received_at from posture_reports
	union all
	select p.organization_id, p.device_id, r.id, r.received_at
	from packed_posture_reports p
	cross join lateral unnest(p.report_ids, p.received_at) r (id, received_at)
) t`;

// All stored times have the same length, so the greatest text is the latest time.
const REPORT_SUMMARIES = `
select
	t.id, t.received_at::text as exactly,
	(select max(e ->> 'observed_at') from jsonb_array_elements(t.results) e) as observed_at,
	array(
		select distinct e ->> 'check_key' from jsonb_array_elements(t.results) e
		where e ->> 'status' = 'FAIL' order by 1
	) as failing_checks,
	${resultsOf("PASS")} as pass, ${resultsOf("FAIL")} as fail,
	${resultsOf("UNKNOWN")} as unknown, ${resultsOf("NOT_APPLICABLE")} as not_applicable
from (
	with page as (select * from unnest($3::text[], $4::timestamptz[]) p (id, received_at))
	select p.id, p.received_at, r.results
	from page p
	join posture_reports r on r.organization_id = $1 and r.device_id = $2
		and r.report_id = p.id and r.received_at = p.received_at
	union all
	select p.id, p.received_at, r.results::jsonb
	from (select distinct posture_report_month(received_at) as month from page) m
	cross join lateral unpack_posture_reports($1, $2, m.month, m.month) r
	join page p on p.id = r.report_id and p.received_at = r.received_at
) t`;

interface Reported {
	id: string;
	received_at: string;
	/** The same time with microseconds, as PostgreSQL writes it. */
	exactly: string;
}

interface Summary {
	observed_at: string | null;
	failing_checks: string[];
	pass: number;
	fail: number;
	unknown: number;
	not_applicable: number;
}

/** Reads what is in these reports of a device, by the id and the time of each. */
async function readSummaries(
	{ client, membership }: Context,
	deviceId: string,
	reports: Reported[],
): Promise<Map<string, Summary>> {
	const { rows } = await client.query<Summary & Reported>({
		name: "summaries.posture_reports",
		text: REPORT_SUMMARIES,
		values: [
			membership.organizationId,
			deviceId,
			textArray(reports.map(({ id }) => id)),
			textArray(reports.map(({ exactly }) => exactly)),
		],
	});
	return new Map(
		rows.map(({ id, exactly, ...summary }) => [`${id} ${exactly}`, summary]),
	);
}

const reportOrders: Record<string, Order> = {
	received_at: byTime("received_at"),
};

const { size, cursor } = listInput(reportOrders, {}).shape;

export const listDevicePostureReports = defineOperation({
	name: "listDevicePostureReports",
	title: "List a device's posture reports",
	description:
		"List the raw reports of a device that are still kept, newest first, with the number of results by status and the checks that failed. getDevicePostureReport reads one.",
	toolset: "devices",
	access: "read",
	tenant: "device_id",
	input: z.strictObject({ device_id: deviceId(), size, cursor }),
	output: z.object({
		posture_reports: z.array(
			z.object({
				report_id: z.string(),
				device_id: z.string(),
				received_at: z.string(),
				observed_at: z
					.string()
					.nullable()
					.describe(
						"When the agent ran its checks, which may be long before it could send",
					),
				kept_until: z
					.string()
					.nullable()
					.describe(
						"Day on which it is deleted, YYYY-MM-DD; null: it is kept forever",
					),
				failing_checks: z.array(z.string()),
				pass: z.int(),
				fail: z.int(),
				unknown: z.int(),
				not_applicable: z.int(),
			}),
		),
		...pageShape,
	}),
	run: async (context, { device_id, size, cursor }) => {
		const [{ rows, ...page }] = await Promise.all([
			readPage<Reported>(
				context.client,
				{
					tool: "listDevicePostureReports",
					columns: "t.id, t.received_at, t.received_at::text as exactly",
					from: REPORTS,
					within: ofDevice(device_id),
					orders: reportOrders,
					filters: {},
				},
				{
					size,
					cursor,
					order_by: { field: "received_at", direction: "DESC" },
				},
			),
			requireDevice(context, device_id),
		]);
		const summaries = await readSummaries(context, device_id, rows);
		return {
			posture_reports: rows.map(({ id, received_at, exactly }) => ({
				report_id: id,
				device_id,
				received_at,
				kept_until: keptUntil(
					received_at,
					context.services.reportRetentionMonths,
				),
				...(summaries.get(`${id} ${exactly}`) as Summary),
			})),
			...page,
		};
	},
});

/**
 * Returns the day on which retention removes a report. Retention removes a whole month when the
 * last report of that month is old enough (src/retention/retention.ts).
 */
function keptUntil(receivedAt: string, months = 0): string | null {
	if (months === 0) return null;
	const received = new Date(receivedAt);
	const end = Date.UTC(
		received.getUTCFullYear(),
		received.getUTCMonth() + 1 + months,
	);
	return new Date(end).toISOString().slice(0, 10);
}

export const getDevicePostureReport = defineOperation({
	name: "getDevicePostureReport",
	title: "Get a posture report",
	description:
		"Read one raw report of a device, with the evidence of each result as its agent sent it. listDevicePostures and listDevicePostureReports return the ids. Old reports are deleted.",
	toolset: "devices",
	access: "read",
	tenant: "device_id",
	input: z.strictObject({
		device_id: deviceId(),
		report_id: idSchema("device_posture_report").meta(
			obvious("Id of the report"),
		),
	}),
	output: z.object({
		posture_report: z.object({
			report_id: z.string(),
			device_id: z.string(),
			received_at: z.string(),
			results: z.array(
				z.object({
					check_key: z.string(),
					check_name: z.string().nullable(),
					status: postureStatus,
					observed_at: z.string(),
					claimed_observed_at: z
						.string()
						.optional()
						.describe("The agent's time, if it was in the future"),
					evidence,
				}),
			),
		}),
	}),
	run: async ({ client, membership }, { device_id, report_id }) => {
		const { rows } = await client.query({
			name: "get.posture_report",
			text: `
				select r.received_at, r.results
				from find_posture_report($1, $2, $3, '-infinity') r
				order by r.received_at
				limit 1`,
			values: [membership.organizationId, device_id, report_id],
		});
		const [report] = rows;
		if (!report) {
			throw new AppError(
				"not_found",
				`this device has no report ${report_id}, or the report was deleted after the retention period; listDevicePostures returns the device's history`,
			);
		}
		return {
			posture_report: {
				report_id,
				device_id,
				received_at: report.received_at,
				results: report.results.map(
					(result: { check_key: string; evidence?: object }) => ({
						...result,
						check_name: checkName(result.check_key),
						evidence: (visibleValue(result.evidence) ??
							null) as Evidence | null,
					}),
				),
			},
		};
	},
});
