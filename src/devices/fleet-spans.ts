import type { PoolClient } from "pg";
import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { addFilters, type Filter } from "../records/filter.ts";
import { COUNTED } from "../records/list-count.ts";
import {
	byTime,
	organizationId,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../records/list-pages.ts";
import { findCheckKey } from "./check-keys.ts";
import { DEVICE_STATUSES, namedCheck, postureStatus } from "./device-record.ts";
import { maxSilenceOf } from "./silences.ts";
import {
	endOfMillisecond,
	pastTimestampSchema,
	startOfMillisecond,
	timestampSchema,
} from "./timestamps.ts";

const HELD = ["SEEN", "MAY_HAVE_HELD"] as const;

const orders = { since: byTime("since") };

/** SQL for the beginning and the end of the period, which are the items of the parameter. */
const from = (period: string) => `(${period}::timestamptz[])[1]`;
const until = (period: string) => `(${period}::timestamptz[])[2]`;

/**
 * The span goes on before and after the period, and the device was silent all the time between.
 */
const isSilent = (period: string) => `(
	t.since < ${from(period)} and t.last_observed_at > ${until(period)} and exists (
		select from device_silences y
		where y.organization_id = t.organization_id and y.device_id = t.device_id
			and y.since < ${from(period)} and y.until > ${until(period)}
			and y.until - y.since > ${maxSilenceOf("y.device_id", "y.until")}
	)
)`;

/**
 * An observation with the status falls into the period, or two of them enclose it, all observations
 * between them have the status, and the device was not silent.
 */
const isSeen = (period: string) =>
	`(t.since <= ${until(period)} and t.last_observed_at >= ${from(period)} and not ${isSilent(period)})`;

/** The spans of the same check of the same device. */
const NEIGHBOURS = `posture_spans x
	where x.organization_id = t.organization_id and x.device_id = t.device_id
		and x.check_key = t.check_key`;
const PREVIOUS_OBSERVED_AT = `(
	select x.last_observed_at from ${NEIGHBOURS} and x.since < t.since
	order by x.since desc limit 1
)`;
const NEXT_SINCE = `(
	select x.since from ${NEIGHBOURS} and x.since > t.since
	order by x.since limit 1
)`;

/**
 * The device was silent, or the span ends before the period or begins after it, and nothing is
 * known about the time between: the neighboring observation with another status lies beyond the
 * beginning or the end of the period. A device that has reported nothing since may still have the
 * status, until it is revoked.
 */
const mayHaveHeld = (period: string) => `case
	when ${isSilent(period)} then true
	when t.since > ${until(period)} then ${PREVIOUS_OBSERVED_AT} < ${until(period)}
	when t.last_observed_at < ${from(period)} then coalesce(${NEXT_SINCE}, (
		select d.revoked_at from devices d
		where d.organization_id = t.organization_id and d.id = t.device_id
	), 'infinity') > ${from(period)}
	else false
end`;

const unchecked = z.unknown();
const filters: Record<string, Filter> = {
	check_key: { schema: unchecked, sql: (p) => `t.check_key = ${p}` },
	SEEN: { schema: unchecked, sql: isSeen },
	MAY_HAVE_HELD: { schema: unchecked, sql: mayHaveHeld },
	either: {
		schema: unchecked,
		sql: (period) => `(${isSeen(period)} or ${mayHaveHeld(period)})`,
	},
};

const SPANS = "(select s.*, s.device_id as id from posture_spans s) t";
const nameOf = (columns: string) =>
	`(select ${columns} from devices d where d.organization_id = t.organization_id and d.id = t.device_id)`;
const COLUMNS = `
	t.id, t.device_id, t.since, t.last_observed_at,
	${nameOf("coalesce(d.name, d.hostname)")} as device_name,
	${nameOf("d.status")} as device_status,
	${nameOf("d.revoked_at")} as device_revoked_at,
	${nameOf("d.owner_id")} as owner_id,
	(
		select p.full_name from devices d
		join people p on p.organization_id = d.organization_id and p.id = d.owner_id
		where d.organization_id = t.organization_id and d.id = t.device_id
	) as owner_name,
	${PREVIOUS_OBSERVED_AT} as previous_observed_at,
	${NEXT_SINCE} as until`;

const span = z.object({
	device_id: z.string(),
	device_name: z.string().nullable(),
	device_status: z.enum(DEVICE_STATUSES).describe("Its status now"),
	device_revoked_at: z
		.string()
		.nullable()
		.describe("End of a span without until; null: not REVOKED"),
	owner_id: z.string().nullable(),
	owner_name: z.string().nullable(),
	held: z.enum(HELD),
	since: z.string().describe("First observation with this status"),
	last_observed_at: z.string().describe("Last observation with this status"),
	previous_observed_at: z
		.string()
		.nullable()
		.describe("Last observation before, with another status; null: none"),
	until: z
		.string()
		.nullable()
		.describe("First observation with another status; null: none yet"),
});

const countSchema = z
	.int()
	.nullable()
	.describe(
		"Devices, each counted once, in the first 10,000 spans; null on later pages",
	);

export const listPostureSpans = defineOperation({
	name: "listPostureSpans",
	title: "List posture spans",
	description:
		"Find the devices on which a check had a status at some time in a period, with owners, a row for each span of time. held is SEEN if it was observed in the period, or on both sides of it without another status or a long silence between. It is MAY_HAVE_HELD if the status was seen only before or after, or the device was silent.",
	toolset: "history",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		check_key: namedCheck(),
		status: postureStatus.optional().describe("FAIL by default"),
		from: pastTimestampSchema().optional().describe("Start of the period"),
		until: timestampSchema()
			.optional()
			.describe("End of the period; now by default"),
		held: z.enum(HELD).optional().describe("Both by default"),
		size: pageSize("Spans"),
		cursor: pageCursor(),
	}),
	output: z.object({
		posture_spans: z.array(span),
		devices_seen: countSchema,
		devices_that_may_have: countSchema.describe("Further devices"),
		...pageShape,
	}),
	run: async ({ client }, input) => {
		const { organization_id, held, size, cursor } = input;
		const period = {
			from: startOfMillisecond(input.from ?? "1900-01-01T00:00:00Z"),
			until: endOfMillisecond(input.until ?? new Date().toISOString()),
		};
		if (period.from > period.until) {
			throw badFields([{ field: "until", message: "must not be before from" }]);
		}
		const key = await findCheckKey(client, organization_id, input.check_key);
		const status = input.status ?? "FAIL";
		// The status is written out, because only then the planner can use the index of the few spans
		// that fail or are unknown.
		const within = {
			sql: `t.organization_id = $1 and t.status = '${status}'`,
			value: organization_id,
		};
		const filter = {
			check_key: key,
			[held ?? "either"]: textArray([period.from, period.until]),
		};
		const { rows, ...page } = await readPage<Row>(
			client,
			{
				tool: "listPostureSpans",
				// Without `until`, the period ends later on every page.
				selected: [
					...[organization_id, key, status],
					...[held, input.from, input.until],
				],
				columns: COLUMNS,
				from: SPANS,
				within,
				orders,
				filters,
			},
			{
				organization_id,
				size,
				cursor,
				order_by: { field: "since", direction: "DESC" },
				filter,
			},
		);
		const silent = await findSilent(client, organization_id, rows, period);
		const spans = rows.map((row) => toSpan(row, period, silent));
		const counts =
			typeof cursor === "string"
				? NOT_COUNTED
				: await countDevices(client, within, filter, period);
		return { posture_spans: spans, ...counts, ...page };
	},
});

type Row = Omit<z.input<typeof span>, "held">;
interface Period {
	from: string;
	until: string;
}

/** Rows have milliseconds, as the period has. */
function toSpan(
	row: Row,
	period: Period,
	silent: ReadonlySet<string>,
): z.input<typeof span> {
	const isSeen =
		Date.parse(row.since) <= Date.parse(period.until) &&
		Date.parse(row.last_observed_at) >= Date.parse(period.from) &&
		!(encloses(row, period) && silent.has(row.device_id));
	const { device_id, device_name, device_status, owner_id, owner_name } = row;
	return {
		device_id,
		device_name,
		device_status,
		owner_id,
		owner_name,
		device_revoked_at: row.device_revoked_at,
		held: isSeen ? "SEEN" : "MAY_HAVE_HELD",
		since: row.since,
		last_observed_at: row.last_observed_at,
		previous_observed_at: row.previous_observed_at,
		until: row.until,
	};
}

const encloses = ({ since, last_observed_at }: Row, { from, until }: Period) =>
	Date.parse(since) < Date.parse(from) &&
	Date.parse(last_observed_at) > Date.parse(until);

/** Returns those devices of the spans around the period that were silent all the time. */
async function findSilent(
	client: PoolClient,
	organizationId: string,
	rows: Row[],
	period: Period,
): Promise<Set<string>> {
	const ids = rows
		.filter((row) => encloses(row, period))
		.map(({ device_id }) => device_id);
	if (ids.length === 0) return new Set();
	const { rows: silent } = await client.query<{ device_id: string }>({
		name: "spans.silent",
		text: `
			select y.device_id from device_silences y
			where y.organization_id = $1 and y.device_id = any($2::text[])
				and y.since < $3::timestamptz and y.until > $4::timestamptz
				and y.until - y.since > ${maxSilenceOf("y.device_id", "y.until")}`,
		values: [organizationId, ids, period.from, period.until],
	});
	return new Set(silent.map(({ device_id }) => device_id));
}

const NOT_COUNTED = { devices_seen: null, devices_that_may_have: null };

async function countDevices(
	client: PoolClient,
	within: { sql: string; value: unknown },
	filter: object,
	period: Period,
) {
	const values: unknown[] = [within.value];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	const conditions = [within.sql];
	addFilters(conditions, parameter, filters, { ...filter });
	const given = parameter(textArray([period.from, period.until]));
	const { rows } = await client.query<{ seen: number; others: number }>(
		`select
			(count(*) filter (where d.is_seen))::int as seen,
			(count(*) filter (where not d.is_seen))::int as others
		from (
			select bool_or(f.is_seen) as is_seen
			from (
				select t.device_id, ${isSeen(given)} as is_seen
				from ${SPANS}
				where ${conditions.join(" and ")}
				limit ${COUNTED}
			) f
			group by f.device_id
		) d`,
		values,
	);
	return {
		devices_seen: rows[0]?.seen ?? 0,
		devices_that_may_have: rows[0]?.others ?? 0,
	};
}
