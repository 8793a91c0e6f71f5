import { z } from "zod";
import { badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { type Filter, rangeIssues } from "../records/filter.ts";
import {
	byTime,
	listInput,
	type Order,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { findCheckKey } from "./check-keys.ts";
import {
	checkKeySchema,
	checkName,
	deviceId,
	namedCheck,
	postureStatus,
} from "./device-record.ts";
import { readSilences, silencesShape } from "./silences.ts";
import {
	endOfMillisecond,
	pastTimestampSchema,
	timestampSchema,
	toTimestamp,
} from "./timestamps.ts";

const spanOrders: Record<string, Order> = {
	since: byTime("since"),
};

const filters: Record<string, Filter> = {
	check_key: {
		schema: checkKeySchema(),
		sql: (parameter) => `t.check_key = ${parameter}`,
	},
	from: {
		bound: { of: "time", end: "least" },
		schema: timestampSchema(),
		sql: (parameter) => `(t.until is null or t.until > ${parameter})`,
	},
	until: {
		bound: { of: "time", end: "greatest" },
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
export const ofDevice = (id: string) => ({
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
		const issues = rangeIssues(filters, { from, until });
		if (issues.length > 0) throw badFields(issues);
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
					},
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

export async function requireDevice(
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
