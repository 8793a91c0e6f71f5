import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import type { Filter } from "../records/filter.ts";
import {
	byTime,
	listInput,
	type Order,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown.ts";
import { idSchema } from "../records/text-schemas.ts";
import { findCheckKey } from "./check-keys.ts";
import {
	checkKeySchema,
	checkName,
	deviceId,
	evidence,
	namedCheck,
	postureStatus,
} from "./device-record.ts";
import { readSilences, silencesShape } from "./silences.ts";
import type { Evidence, PostureStatus } from "./terms.ts";
import {
	endOfMillisecond,
	pastTimestampSchema,
	timestampSchema,
	toTimestamp,
} from "./timestamps.ts";
import { visibleValue } from "./visible-text.ts";

const spanOrders: Record<string, Order> = {
	since: byTime("since"),
};

const filters: Record<string, Filter> = {
	check_key: {
		schema: checkKeySchema(),
		sql: (parameter) => `t.check_key = ${parameter}`,
	},
	from: {
		schema: timestampSchema(),
		sql: (parameter) => `(t.until is null or t.until > ${parameter})`,
	},
	until: {
		schema: timestampSchema(),
		sql: (parameter) => `t.since <= ${parameter}`,
	},
	as_of: {
		schema: timestampSchema(),
		sql: (parameter) =>
			`t.since <= ${parameter} and (t.until is null or t.until > ${parameter})`,
	},
};

// A cursor contains an id of 32 characters. Checks have no id, so a hash of the key serves as one.
const SPANS = `(
	select
		s.*, lead(s.since) over (
			partition by s.organization_id, s.device_id, s.check_key order by s.since
		) as until,
		left(encode(sha256(convert_to(s.check_key, 'UTF8')), 'hex'), 32) as id
	from posture_spans s
) t`;

const SPAN_COLUMNS = `
	t.id, t.check_key, t.status, t.since, t.last_observed_at, t.until, t.is_current,
	t.first_report_id, t.last_report_id`;

/**
 * Returns a condition that limits a list to the rows of one device in the transaction's
 * organization.
 */
const ofDevice = (id: string) => ({
	sql: "t.organization_id = current_setting('assay.organization_id') and t.device_id = $1",
	value: id,
});

const { size, cursor } = listInput(spanOrders, {}).shape;

export const listDevicePostures = defineOperation({
	name: "listDevicePostures",
	title: "List a device's postures",
	description:
		"Read the posture history of a device, newest first, as spans during which every observation of a check had one status. Between last_observed_at and until nothing is known. silences lie over the spans of all checks. With as_of, read the last status of every check known at that time; last_observed_at and silences say how old it is. listPostureSpans covers all devices.",
	toolset: "devices",
	access: "read",
	tenant: "device_id",
	input: z.strictObject({
		device_id: deviceId(),
		check_key: namedCheck("A check; all by default").optional(),
		from: timestampSchema().optional().describe("Spans whose until is later"),
		until: timestampSchema()
			.optional()
			.describe("Spans that begin at this time or earlier"),
		as_of: pastTimestampSchema()
			.optional()
			.describe("The state at this time, RFC 3339 with offset"),
		size,
		cursor,
	}),
	output: z.object({
		device_postures: z.array(
			z.object({
				device_id: z.string(),
				check_key: z.string(),
				check_name: z.string().nullable(),
				status: postureStatus,
				since: z.string().describe("First observation with this status"),
				last_observed_at: z
					.string()
					.describe("Last observation with this status"),
				until: z
					.string()
					.nullable()
					.describe("First observation with another status; null: none yet"),
				is_current: z.boolean(),
				first_report_id: z.string(),
				last_report_id: z.string(),
			}),
		),
		...silencesShape,
		...pageShape,
	}),
	run: async (context, input) => {
		const { device_id, from, until, as_of } = input;
		const { client, membership } = context;
		const check_key =
			input.check_key &&
			(await findCheckKey(client, membership.organizationId, input.check_key));
		const moment = as_of && endOfMillisecond(as_of);
		const period = {
			from: moment ?? (from && toTimestamp(from)),
			until: moment ?? (until && endOfMillisecond(until)),
		};
		const [{ rows, ...page }, silences] = await Promise.all([
			readPage(
				context.client,
				{
					tool: "listDevicePostures",
					columns: SPAN_COLUMNS,
					from: SPANS,
					within: ofDevice(device_id),
					orders: spanOrders,
					filters,
				},
				{
					size: input.size,
					cursor: input.cursor,
					order_by: { field: "since", direction: "DESC" },
					filter: {
						check_key,
						from: from && toTimestamp(from),
						until: until && endOfMillisecond(until),
						as_of: moment,
					} as object,
				},
			),
			readSilences(client, membership.organizationId, device_id, period),
			requireDevice(context, device_id),
		]);
		return {
			device_postures: rows.map((row) => ({
				device_id,
				check_key: row.check_key,
				check_name: checkName(row.check_key),
				status: row.status,
				since: row.since,
				last_observed_at: row.last_observed_at,
				until: row.until,
				is_current: row.is_current,
				first_report_id: row.first_report_id,
				last_report_id: row.last_report_id,
			})),
			silences,
			...page,
		};
	},
});

/** Returns an SQL expression that counts the results with this status in a report `t`. */
const resultsOf = (status: PostureStatus) =>
	`(select count(*)::int from jsonb_array_elements(t.results) e where e ->> 'status' = '${status}')`;

// All stored times have the same length, so the greatest text is the latest time.
const REPORT_COLUMNS = `
	t.id, t.received_at,
	(select max(e ->> 'observed_at') from jsonb_array_elements(t.results) e) as observed_at,
	array(
		select distinct e ->> 'check_key' from jsonb_array_elements(t.results) e
		where e ->> 'status' = 'FAIL' order by 1
	) as failing_checks,
	${resultsOf("PASS")} as pass, ${resultsOf("FAIL")} as fail,
	${resultsOf("UNKNOWN")} as unknown, ${resultsOf("NOT_APPLICABLE")} as not_applicable`;

const reportOrders: Record<string, Order> = {
	received_at: byTime("received_at"),
};

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
			readPage(
				context.client,
				{
					tool: "listDevicePostureReports",
					columns: REPORT_COLUMNS,
					from: "(select *, report_id as id from posture_reports) t",
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
		return {
			posture_reports: rows.map((row) => ({
				report_id: row.id,
				device_id,
				received_at: row.received_at,
				observed_at: row.observed_at,
				kept_until: keptUntil(
					row.received_at,
					context.services.reportRetentionMonths,
				),
				failing_checks: row.failing_checks,
				pass: row.pass,
				fail: row.fail,
				unknown: row.unknown,
				not_applicable: row.not_applicable,
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
				from posture_reports r
				where r.organization_id = $1 and r.device_id = $2 and r.report_id = $3
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

async function requireDevice(
	{ client, membership }: Context,
	id: string,
): Promise<void> {
	const { rowCount } = await client.query({
		name: "has.device",
		text: "select from devices where organization_id = $1 and id = $2",
		values: [membership.organizationId, id],
	});
	if (rowCount === 0) throw notFound(id);
}
