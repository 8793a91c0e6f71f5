import { escapeLiteral } from "pg";
import { z } from "zod";
import { readReleases } from "../agent-packages/release.ts";
import { textArray } from "../db/array.ts";
import type { Filter } from "../records/filter.ts";
import { byText, byTime, type Order } from "../records/list-pages.ts";
import { whyNoReference } from "../records/no-match-messages.ts";
import { personFilter } from "../records/person-filter.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema, lineSchema, timeSchema } from "../records/text-schemas.ts";
import { checkKeysOf, whyNoCheck } from "./check-keys.ts";
import { stateFilters } from "./check-state-filters.ts";
import { CONFLICT_KINDS } from "./conflicts.ts";
import { devicesOfGroup } from "./device-groups.ts";
import {
	checkKeySchema,
	DEVICE_STATUSES,
	FRESHNESS,
	FRESHNESSES,
	HAS_CLAIMED_OWNER,
	REPORTING,
	REPORTINGS,
} from "./device-record.ts";
import { filtersAsOf } from "./devices-as-of.ts";
import { isOlderAgent, whyNoAgent } from "./outdated-agents.ts";
import { MISSING_DAYS, PLATFORMS, type PostureStatus } from "./terms.ts";

/**
 * Orders by the time since when a device has failed a check, longest first: the check that the
 * filter `failing_check` gives, or any. Devices that do not fail come last. Without a filter, the
 * query reads the spans of all devices.
 */
export function byFailingSince(failingCheck?: unknown): Order {
	const ofCheck =
		typeof failingCheck === "string"
			? `and s.check_key = any(${escapeLiteral(textArray(checkKeysOf(failingCheck)))}::text[])`
			: "";
	return {
		expression: `coalesce((
			select min(s.since) from posture_spans s
			where s.organization_id = t.organization_id and s.device_id = t.id
				and s.is_current and s.status = 'FAIL' ${ofCheck}
		), 'infinity'::timestamptz)`,
		type: "timestamptz",
		direction: "ASC",
	};
}

const orders: Record<string, Order> = {
	created_at: byTime("created_at"),
	name: byText("name"),
	hostname: byText("hostname"),
	// No index has this column, because every heartbeat would have to update that index. Instead, the
	// query reads and sorts all devices of the organization, which takes 100 ms for 100,000 devices.
	last_seen_at: {
		expression: "coalesce(t.last_seen_at, '-infinity'::timestamptz)",
		type: "timestamptz",
		direction: "DESC",
	},
	failing_since: byFailingSince(),
};

/** Returns a filter by the present status of a check. The parameter is an array of keys. */
const checkFilter = (description: string, sql: Filter["sql"]): Filter => ({
	schema: checkKeySchema().describe(description),
	sql,
	toParameter: (value) => textArray(checkKeysOf(String(value))),
	whyNone: (client, organizationId, value) =>
		whyNoCheck(client, organizationId, String(value)),
});

/** Most devices match, so walking them in the list's order soon fills a page. */
const byCheck = (status: PostureStatus) =>
	checkFilter(
		`Check whose latest status is ${status}`,
		(parameter) => `exists (
			select from posture_spans s
			where s.organization_id = $1 and s.device_id = t.id
				and s.check_key = any(${parameter}::text[]) and s.is_current and s.status = '${status}'
		)`,
	);

/** Returns a filter that takes one of the values or several. */
const oneOrSeveral = (
	values: readonly [string, ...string[]],
	description: string,
	condition: (parameter: string) => string,
): Filter => ({
	schema: z
		.union([z.enum(values), z.array(z.enum(values)).min(1).max(values.length)])
		.describe(description),
	sql: condition,
	toParameter: (value) => textArray([value].flat() as string[]),
});

/**
 * Makes a condition that the planner takes to be true for half of the devices. It takes an equation
 * with an expression to be true for very few, and would sort them all instead of walking the list's
 * index until a page is full.
 */
const oftenTrue = (condition: string) => `coalesce(${condition}, false)`;

/** Devices with a failing check. `having` limits their failing spans `s`. */
const failing = (where: string, having = "true") => `t.id = any(array(
	select s.device_id::text from posture_spans s
	where s.organization_id = $1 and s.is_current and s.status = 'FAIL' and ${where}
	group by s.device_id having ${having}
))`;

const filters: Record<string, Filter> = {
	status: oneOrSeveral(
		DEVICE_STATUSES,
		"One or several. PENDING: no accepted heartbeat yet",
		(parameter) => `t.status = any(${parameter}::text[])`,
	),
	freshness: oneOrSeveral(
		FRESHNESSES,
		`One or several; never REVOKED devices. ONLINE: a heartbeat within two intervals and a minute; STALE: none; MISSING: none for ${MISSING_DAYS} days; NEVER: none yet`,
		(parameter) =>
			oftenTrue(
				`t.status <> 'REVOKED' and (${FRESHNESS}) = any(${parameter}::text[])`,
			),
	),
	reporting: {
		schema: z
			.enum(REPORTINGS)
			.describe("NOT_REPORTING: no report for two posture intervals"),
		sql: (parameter) => oftenTrue(`(${REPORTING}) = ${parameter}`),
	},
	platform: oneOrSeveral(
		PLATFORMS,
		"One or several",
		(parameter) => `t.platform = any(${parameter}::text[])`,
	),
	owner_id: {
		schema: idSchema("people")
			.nullable()
			.describe("Person who uses it; null: nobody"),
		sql: (parameter) => `t.owner_id = ${parameter}`,
		whenNull: "t.owner_id is null",
		whyNone: (client, organizationId, value) =>
			whyNoReference(client, "people", organizationId, String(value)),
	},
	owner: personFilter("owner_id"),
	// Finds the failing devices by their own index first. With a join the planner reads all devices.
	failing_check: checkFilter(
		"Check whose latest status is FAIL, also of silent and REVOKED devices",
		(parameter) => failing(`s.check_key = any(${parameter}::text[])`),
	),
	failing_since_before: {
		schema: timeSchema().describe(
			"With a check that has failed since before this time; with failing_check, this check",
		),
		// The parameter is the time, followed by the keys of failing_check if that is given too. Both
		// then mean the same span.
		sql: (parameter) =>
			failing(
				`s.since < (${parameter}::text[])[1]::timestamptz
				and (cardinality(${parameter}::text[]) = 1 or s.check_key = any((${parameter}::text[])[2:]))`,
			),
		toParameter: (value, { failing_check: check }) =>
			textArray([
				String(value),
				...(typeof check === "string" ? checkKeysOf(check) : []),
			]),
	},
	not_passing_check: checkFilter(
		"Check that fails or is unknown",
		(parameter) => `t.id = any(array(
			select s.device_id::text from posture_spans s
			where s.organization_id = $1 and s.is_current and s.status in ('FAIL', 'UNKNOWN')
				and s.check_key = any(${parameter}::text[])
		))`,
	),
	min_failing: {
		schema: z.int().min(1).describe("Checks that fail, at least this many"),
		sql: (parameter) => failing("true", `count(*) >= ${parameter}`),
	},
	conflict: {
		schema: z
			.enum(["ANY", ...CONFLICT_KINDS])
			.describe("Conflict that an administrator should resolve"),
		sql: (parameter) => `t.id = any(array(
			select c.device_id::text from device_conflicts c
			where c.organization_id = $1 and (${parameter} = 'ANY' or c.kind = ${parameter})
		))`,
	},
	awaits_approval: {
		schema: z.boolean().describe("Waits for an administrator's approval"),
		sql: () => "true",
		flag: {
			true: "t.awaits_approval and t.status = 'PENDING'",
			false: "not (t.awaits_approval and t.status = 'PENDING')",
		},
	},
	has_claimed_owner: {
		schema: z.boolean().describe("Unconfirmed owner; not REVOKED"),
		sql: () => "true",
		flag: {
			true: HAS_CLAIMED_OWNER,
			false: `not (${HAS_CLAIMED_OWNER})`,
		},
	},
	enrollment_key_id: {
		schema: idSchema("enrollment_key").meta(obvious("Enrolled with this key")),
		sql: (parameter) => `t.enrollment_key_id = ${parameter}`,
	},
	agent_version: {
		schema: lineSchema(100).describe("Exactly this version of the agent"),
		sql: (parameter) => `t.agent_version = ${parameter}`,
		whyNone: (client, organizationId, value) =>
			whyNoAgent(client, organizationId, String(value)),
	},
	agent_older_than: {
		schema: lineSchema(200)
			.refine(
				(text) => readReleases(text) !== undefined,
				"must be a version such as 1.4.0, or a version for each platform such as LINUX 1.4.0, WINDOWS 1.3.0",
			)
			.describe("Agents before 1.4.0, or LINUX 1.4.0, WINDOWS 1.3.0"),
		sql: isOlderAgent,
		toParameter: (value) => JSON.stringify(readReleases(String(value)) ?? {}),
	},
	group_id: {
		schema: idSchema("device_group").meta(obvious("In this group")),
		resolve: (client, organizationId, value) =>
			devicesOfGroup(client, organizationId, String(value), filters),
		sql: (parameter) => `t.id = any(${parameter}::text[])`,
		toParameter: (ids) => textArray(ids as string[]),
		whyNone: async (client, organizationId, value) => {
			const { rowCount } = await client.query(
				"select from device_groups where organization_id = $1 and id = $2",
				[organizationId, value],
			);
			return rowCount
				? undefined
				: `there is no group ${String(value)}; listDeviceGroups lists the groups`;
		},
	},
	passing_check: byCheck("PASS"),
	unknown_check: byCheck("UNKNOWN"),
	...stateFilters("now"),
};

/** The filters of a list of devices at a moment, which `as_of` gives. */
export const pastFilters = filtersAsOf(filters);

/** The orders and filters of a list of devices, and what a search finds besides its texts. */
export const deviceListing = {
	orders,
	filters,
	people: ["owner_id"],
	repeated: { table: "devices", column: "os_version" },
};
