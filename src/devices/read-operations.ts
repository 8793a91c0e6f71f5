import { escapeLiteral, type PoolClient } from "pg";
import { z } from "zod";
import { RELEASE } from "../agent-packages/package-list.ts";
import { textArray } from "../db/array.ts";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import type { Filter } from "../records/filter.ts";
import {
	byText,
	byTime,
	listInput,
	type Order,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { personFilter } from "../records/person-filter.ts";
import { detailSchema } from "../records/result-rows.ts";
import { obvious } from "../records/shown.ts";
import { idSchema, lineSchema, timeSchema } from "../records/text-schemas.ts";
import { whyNoReference } from "../records/why-none.ts";
import { CHECK_KEYS_TEXT, checkKeysOf, whyNoCheck } from "./check-keys.ts";
import { stateFilters } from "./check-state-filters.ts";
import { CONFLICT_KINDS, listConflicts } from "./conflicts.ts";
import { devicesOfGroup, groupsOfDevices } from "./device-groups.ts";
import { findDevice, readPostures, toDevice } from "./device-postures.ts";
import {
	checkKeySchema,
	currentPosture,
	DEVICE_COLUMNS,
	DEVICE_STATUSES,
	DEVICES,
	type Device,
	type DeviceRow,
	device,
	deviceId,
	FRESHNESS,
	FRESHNESSES,
	listedDevice,
	type PastDevice,
	REPORTING,
	REPORTINGS,
	toBrief,
} from "./device-record.ts";
import {
	filtersAsOf,
	readDevicesAsOf,
	rejectPresent,
} from "./devices-as-of.ts";
import { findEnrollmentToken } from "./enrollment.ts";
import { readPoliciesOfDevice } from "./group-policies/store.ts";
import { openNonconformities } from "./nonconformities/of-device.ts";
import { readCheckStates, withStates } from "./read-check-states.ts";
import { explain } from "./remediation/remediation.ts";
import { PLATFORMS, type PostureStatus } from "./terms.ts";
import { endOfMillisecond, pastTimestampSchema } from "./timestamps.ts";

/**
 * Orders by the time since when a device has failed a check, longest first: the check that the
 * filter `failing_check` gives, or any. Devices that do not fail come last. Without a filter, the
 * query reads the spans of all devices.
 */
function byFailingSince(failingCheck?: unknown): Order {
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
		"One or several; never REVOKED devices. ONLINE: a heartbeat within two intervals and a minute; STALE: none; MISSING: none for 7 days; NEVER: none yet",
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
		schema: z.int().min(1).describe("Failing checks, at least this many"),
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
		schema: z.boolean().describe("With an owner nobody confirmed"),
		sql: () => "true",
		flag: {
			true: "t.claimed_owner_id is not null",
			false: "t.claimed_owner_id is null",
		},
	},
	enrollment_key_id: {
		schema: idSchema("enrollment_key").meta(obvious("Enrolled with this key")),
		sql: (parameter) => `t.enrollment_key_id = ${parameter}`,
	},
	agent_version: {
		schema: lineSchema(100).describe("Exactly this version of the agent"),
		sql: (parameter) => `t.agent_version = ${parameter}`,
	},
	agent_older_than: {
		schema: z
			.string()
			.regex(RELEASE)
			.describe("Agents of an earlier version, such as 1.4.0"),
		sql: (parameter) => `case when t.agent_version ~ '${RELEASE.source}'
			then string_to_array(t.agent_version, '.')::int[] < string_to_array(${parameter}, '.')::int[]
			else false end`,
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

export const listDevices = defineOperation({
	name: "listDevices",
	title: "List devices",
	description: `List the devices of an organization with their freshness, conflicts and the latest state of each check, a page at a time. The state of a silent device (not ONLINE, or is_stale with as_of) is only the last known one. FAIL without a check_state is FAILING. Checks are ${CHECK_KEYS_TEXT}, or an agent's own.`,
	toolset: "devices",
	access: "read",
	tenant: "organization_id",
	input: listInput(
		orders,
		filters,
		"Words, all in its name, hostname, serial number, system or owner's name",
	).extend({
		as_of: pastTimestampSchema()
			.optional()
			.describe(
				"The list as known at this time; give the same time for each page to pin it",
			),
		detail: detailSchema(),
		include_evidence: z
			.boolean()
			.optional()
			.describe(
				"Also return the evidence of each check, which is long; false by default",
			),
	}),
	output: z.object({
		// The console and the command line ask for full rows, so this is the type of a full row.
		devices: z.array(listedDevice as unknown as typeof device),
		...pageShape,
	}),
	run: async ({ client, membership }, input) => {
		const { organizationId } = membership;
		const asOf = input.as_of && endOfMillisecond(input.as_of);
		const given: Record<string, unknown> = { ...input.filter };
		if (asOf) rejectPresent(input);
		const isBrief = input.detail === "brief" && !input.include_evidence;
		const { rows, ...page } = await readPage<DeviceRow>(
			client,
			{
				// A cursor is valid only for the time that returned it.
				tool: asOf ? `listDevices@${asOf}` : "listDevices",
				columns: DEVICE_COLUMNS,
				from: DEVICES,
				searched: "devices",
				people: deviceListing.people,
				repeated: deviceListing.repeated,
				orders: {
					...orders,
					failing_since: byFailingSince(given.failing_check),
				},
				filters: asOf ? pastFilters : filters,
			},
			asOf
				? { ...input, filter: { ...input.filter, as_of: asOf } as object }
				: input,
		);
		const devices: (Device | PastDevice)[] = asOf
			? await readDevicesAsOf(client, organizationId, rows, asOf)
			: await readDevices(client, organizationId, rows, {
					withEvidence: input.include_evidence ?? false,
				});
		return {
			devices: (isBrief ? devices.map(toBrief) : devices) as Device[],
			...page,
		};
	},
});

async function readDevices(
	client: PoolClient,
	organizationId: string,
	rows: DeviceRow[],
	{ withEvidence }: { withEvidence: boolean },
): Promise<Device[]> {
	const ids = rows.map(({ id }) => id);
	const options = { isList: true, withEvidence };
	const [postures, states, groups] = await Promise.all([
		readPostures(client, organizationId, ids, options),
		readCheckStates(client, organizationId, ids),
		groupsOfDevices(client, organizationId, ids, filters),
	]);
	return rows.map((row) => ({
		...withStates(toDevice(row, postures), states),
		groups: groups.get(row.id) ?? [],
	}));
}

const explainedPosture = currentPosture.extend({
	reason: z.string().optional().describe("Why it has this status"),
	remediation: z.string().optional().describe("How to fix it"),
	nonconformity_id: z.string().optional().describe("Open one that lists it"),
	nonconformity_reference_id: z.string().optional(),
});

export const getDevice = defineOperation({
	name: "getDevice",
	title: "Get a device",
	description:
		"Read a device by its id: what it is, who owns it, its freshness, the latest state of each check with the agent's evidence and how to fix it, its conflicts (hardware that another device has, or a key used on two machines), and whether it has an unused enrollment token. The state of a silent device (not ONLINE) is only the last known one.",
	toolset: "devices",
	access: "read",
	tenant: "id",
	input: z.strictObject({ id: deviceId() }),
	output: z.object({
		device: device.extend({ postures: z.array(explainedPosture) }),
		conflicts: z.array(
			z.object({
				kind: z.enum(["DUPLICATE_HARDWARE", "POSSIBLE_CLONE"]),
				other_device_id: z
					.string()
					.nullable()
					.describe("The live device that has the hardware"),
				hardware_uuid: z.string().describe("As the other machine reported it"),
				platform: z.string(),
				hostname: z.string(),
				occurrences: z.int(),
				first_seen_at: z.string(),
				last_seen_at: z.string(),
			}),
		),
		enrollment_token: z
			.object({
				id: z.string(),
				state: z.enum(["OPEN", "EXPIRED", "REVOKED"]),
				expires_at: z.string(),
				created_at: z.string(),
				created_by: z.string().nullable(),
			})
			.nullable()
			.describe(
				"Newest token since the device last enrolled, without its secret; null once exchanged",
			),
	}),
	run: async ({ client, membership: { organizationId } }, { id }) => {
		const [found, inGroups, policies, conflicts, token, open] =
			await Promise.all([
				findDevice(client, organizationId, id),
				groupsOfDevices(client, organizationId, [id], filters),
				readPoliciesOfDevice(client, organizationId, id),
				listConflicts(client, organizationId, id),
				findEnrollmentToken(client, organizationId, id),
				openNonconformities(client, organizationId, id),
			]);
		if (!found) throw notFound(id);
		const postures = found.postures.map((posture) => ({
			...posture,
			...open.get(posture.check_key),
			...explain({ ...posture, platform: found.platform }),
		}));
		const groups = inGroups.get(id) ?? [];
		return {
			device: {
				...found,
				groups,
				group_policies: policies.filter(
					({ group_id, applies }) =>
						applies || groups.some((group) => group.id === group_id),
				),
				postures,
			},
			conflicts,
			enrollment_token: token,
		};
	},
});
