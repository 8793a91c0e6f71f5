import { z } from "zod";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema, nameSchema } from "../records/text-schemas.ts";
import { CHECK_KEYS_TEXT } from "./check-keys.ts";
import { checkStateShape, complianceShape } from "./read-check-states.ts";
import {
	CANONICAL_CHECKS,
	INTERVALS_UNTIL_STALE,
	isCanonicalCheck,
	MISSING_DAYS,
	PLATFORMS,
	POSTURE_STATUSES,
	type PostureStatus,
	STALE_SLACK_SECONDS,
} from "./terms.ts";

export const DEVICE_STATUSES = ["PENDING", "ACTIVE", "REVOKED"] as const;

/** SQL condition: the device has an owner whom nobody has confirmed. */
export const HAS_CLAIMED_OWNER =
	"t.claimed_owner_id is not null and t.status <> 'REVOKED'";

/**
 * Returns an SQL interval: how long after its last heartbeat or report a device counts as stale.
 */
export const staleAfter = (intervalSeconds: string) =>
	`(${INTERVALS_UNTIL_STALE} * ${intervalSeconds} + ${STALE_SLACK_SECONDS}) * interval '1 second'`;

export const FRESHNESSES = ["ONLINE", "STALE", "MISSING", "NEVER"] as const;

/**
 * An SQL expression for the freshness of a device `t` of the organization `o`. Until `staleAfter`
 * has passed since its last heartbeat, a device is ONLINE. Then it is STALE, and after MISSING_DAYS
 * it is MISSING. Before its first heartbeat it is NEVER. The expression is evaluated when a device is
 * read, so no job has to update the freshness.
 */
export const FRESHNESS = `
	case
		when t.last_seen_at is null then 'NEVER'
		when t.last_seen_at >= now() - ${staleAfter("o.heartbeat_interval_seconds")} then 'ONLINE'
		when t.last_seen_at >= now() - interval '${MISSING_DAYS} days' then 'STALE'
		else 'MISSING'
	end`;

export const REPORTINGS = ["REPORTING", "NOT_REPORTING"] as const;

/** An SQL expression for the time of the latest observation of a device `t`. */
export const LAST_REPORTED_AT = `(
		select max(s.last_observed_at) from posture_spans s
		where s.organization_id = t.organization_id and s.device_id = t.id and s.is_current
	)`;

/**
 * Returns an SQL condition: an ACTIVE device `t` of the organization `o` has observed something, or
 * was activated, within two posture intervals. One recent span is enough, so the condition seldom
 * reads more than one.
 */
export function isReporting(): string {
	const since = `now() - ${staleAfter("o.posture_interval_seconds")}`;
	return `(t.activated_at >= ${since} or exists (
		select from posture_spans s
		where s.organization_id = t.organization_id and s.device_id = t.id and s.is_current
			and s.last_observed_at >= ${since}
	))`;
}

/**
 * An SQL expression that says whether an ACTIVE device `t` of the organization `o` still reports.
 * The device is NOT_REPORTING if its latest observation, or its activation, is older than two
 * posture intervals. Heartbeats do not count, because an agent may send them but no reports.
 */
export const REPORTING = `
	case
		when t.status <> 'ACTIVE' then null
		when ${isReporting()} then 'REPORTING'
		else 'NOT_REPORTING'
	end`;

/** Returns the name of a check for people, or null for a check that only its agent knows. */
export function checkName(checkKey: string): string | null {
	return isCanonicalCheck(checkKey) ? CANONICAL_CHECKS[checkKey].name : null;
}

export const postureStatus = z.enum(POSTURE_STATUSES);

/** The evidence that the agent sent with a result. */
export const evidence = z.record(z.string(), z.unknown()).nullable();

export const currentPosture = z.object({
	check_key: z.string(),
	check_name: z.string().nullable(),
	status: postureStatus,
	since: z
		.string()
		.describe("Time since which every observation has had this status"),
	observed_at: z.string().describe("Time of the latest observation"),
	...checkStateShape,
	evidence: evidence
		.optional()
		.describe("Absent unless requested; null: none was kept"),
	evidence_is_omitted: z
		.boolean()
		.optional()
		.describe("true: too long; getDevicePostureReport returns it"),
});

/** The policy of a group that a device belongs to. */
export const policyOfDevice = z.object({
	group_id: z.string(),
	group_name: z.string(),
	priority: z.int(),
	applies: z.boolean().describe("It is the device's policy"),
	max_silence_days: z
		.int()
		.nullable()
		.describe("null: the organization's value"),
});

export const device = z.object({
	id: z.string(),
	organization_id: z.string(),
	name: z.string().nullable().describe("Name that people use"),
	status: z.enum(DEVICE_STATUSES),
	freshness: z
		.enum(FRESHNESSES)
		.describe(
			"How recent the last heartbeat is, also of a REVOKED device; NEVER: none yet",
		),
	reporting: z
		.enum(REPORTINGS)
		.nullable()
		.describe(
			"NOT_REPORTING: no report for two posture intervals; null: not ACTIVE",
		),
	hardware_uuid: z.string().nullable(),
	serial_number: z.string().nullable(),
	hostname: z.string().nullable(),
	platform: z.enum(PLATFORMS).nullable(),
	os_version: z.string().nullable(),
	agent_version: z.string().nullable(),
	agent_name: z
		.string()
		.nullable()
		.describe("Name that the agent gives itself; null: none"),
	owner_id: z.string().nullable().describe("Person who uses it"),
	owner_name: z.string().nullable(),
	claimed_owner_id: z
		.string()
		.nullable()
		.describe("Person whom the installer named; a claim nobody confirmed"),
	claimed_owner_name: z.string().nullable(),
	awaits_approval: z
		.boolean()
		.describe("Nobody has approved its enrollment yet"),
	enrollment_key_id: z.string().nullable().describe("Key it enrolled with"),
	enrollment_key_name: z.string().nullable(),
	predecessor_id: z
		.string()
		.nullable()
		.describe("Record of the same machine before it was set up again"),
	successor_id: z.string().nullable(),
	enrolled_at: z.string().nullable(),
	last_seen_at: z.string().nullable(),
	last_reported_at: z.string().nullable(),
	revoked_at: z.string().nullable(),
	conflicts: z
		.array(z.enum(["DUPLICATE_HARDWARE", "POSSIBLE_CLONE"]))
		.describe("Conflicts that an administrator should resolve"),
	duplicate_of: z
		.object({
			id: z.string(),
			name: z.string().nullable(),
			serial_number: z.string().nullable(),
		})
		.nullable()
		.describe("Device whose hardware it reports"),
	failing_count: z.int().describe("Checks that fail"),
	groups: z
		.array(z.object({ id: z.string(), name: z.string() }))
		.optional()
		.describe("Groups that it belongs to, in lists and in getDevice"),
	group_policies: z
		.array(policyOfDevice)
		.optional()
		.describe(
			"Device policies of its groups in their order, in getDevice; if none applies, the organization's does",
		),
	...complianceShape,
	postures: z.array(currentPosture).describe("The latest state of each check"),
	omitted_checks: z
		.int()
		.describe("Number of other checks left out of postures"),
	created_at: z.string(),
	updated_at: z.string(),
});

export type Device = z.output<typeof device>;

const { id, name, status, owner_id, owner_name, failing_count, compliance } =
	device.shape;

type BriefDevice = z.input<typeof listedDevice>;

/**
 * A device in a list. A brief row has only the checks that fail or are unknown, with their state
 * only if it is not FAILING or UNKNOWN, and the numbers of the others. It has last_seen_at only if
 * the device is not ONLINE, and no freshness if it is REVOKED. It has a hostname only if that
 * differs from the name, and conflicts and duplicate_of only if there are some.
 */
export const listedDevice = device.partial().extend({
	id,
	name,
	status,
	owner_id,
	owner_name,
	failing_count,
	compliance,
	postures: z.array(
		currentPosture.partial({
			check_name: true,
			observed_at: true,
			check_state: true,
		}),
	),
	is_stale: z
		.boolean()
		.optional()
		.describe(
			"Instead of freshness, with as_of: no observation for two posture intervals and a minute",
		),
	passing_count: z.int().optional().describe("In brief rows"),
	not_applicable_count: z.int().optional().describe("In brief rows"),
});

/** The fields that are known only of the present. */
type Present =
	| "freshness"
	| "reporting"
	| "conflicts"
	| "duplicate_of"
	| "awaits_approval"
	| "last_seen_at"
	| "last_reported_at";

/** A device as it was at a time in the past. */
export type PastDevice = Omit<Device, Present> & { is_stale: boolean };

/** The states that a brief row leaves out, because the status says the same. */
const MEANING: Partial<Record<PostureStatus, string>> = {
	FAIL: "FAILING",
	UNKNOWN: "UNKNOWN",
};

/** Returns the row of a device with the fields that people decide by. */
export function toBrief(whole: Device | PastDevice): BriefDevice {
	const time =
		"is_stale" in whole
			? { is_stale: whole.is_stale }
			: {
					// A filter by freshness leaves out revoked devices, so their rows do not have one.
					...(whole.status !== "REVOKED" && { freshness: whole.freshness }),
					...(whole.freshness !== "ONLINE" && {
						last_seen_at: whole.last_seen_at,
					}),
					...(whole.reporting === "NOT_REPORTING" && {
						reporting: whole.reporting,
					}),
					...(whole.conflicts.length > 0 && { conflicts: whole.conflicts }),
					...(whole.duplicate_of && { duplicate_of: whole.duplicate_of }),
					...(whole.awaits_approval && { awaits_approval: true }),
				};
	const count = (wanted: PostureStatus) =>
		whole.postures.filter(({ status }) => status === wanted).length;
	return {
		id: whole.id,
		name: whole.name,
		...(whole.hostname !== whole.name && { hostname: whole.hostname }),
		status: whole.status,
		...(whole.revoked_at !== null && { revoked_at: whole.revoked_at }),
		...time,
		platform: whole.platform,
		os_version: whole.os_version,
		owner_id: whole.owner_id,
		owner_name: whole.owner_name,
		...(whole.groups?.length && { groups: whole.groups }),
		failing_count: whole.failing_count,
		compliance: whole.compliance,
		...(whole.compliant_by_exception && { compliant_by_exception: true }),
		...(whole.missing_checks.length > 0 && {
			missing_checks: whole.missing_checks,
		}),
		passing_count: count("PASS"),
		not_applicable_count: count("NOT_APPLICABLE"),
		postures: whole.postures
			.filter(({ status }) => status === "FAIL" || status === "UNKNOWN")
			.map(({ check_key, status, since, check_state, ...until }) => ({
				check_key,
				status,
				since,
				...(check_state !== MEANING[status] && { check_state }),
				...(until.in_grace_until && { in_grace_until: until.in_grace_until }),
				...(until.excepted_until && { excepted_until: until.excepted_until }),
			})),
		...(whole.omitted_checks > 0 && { omitted_checks: whole.omitted_checks }),
	};
}

/**
 * Makes a schema for a check's key of up to 500 characters. New keys must be shorter, but earlier
 * releases stored keys of this length.
 */
export const checkKeySchema = () => nameSchema(500);

/** Makes the schema of a check that a caller names. Its description has the canonical keys. */
export const namedCheck = (what = "Key or name of the check") =>
	checkKeySchema().describe(`${what}: ${CHECK_KEYS_TEXT} or an agent's own`);

export const deviceId = () =>
	idSchema("device").meta(obvious("Id of the device"));

/**
 * The columns of a device `t` of the organization `o`. The device's postures are not among them,
 * because `readPostures` (device-postures.ts) reads those.
 */
export const DEVICE_COLUMNS = `
	t.id, t.organization_id, t.name, t.status, ${FRESHNESS} as freshness, ${REPORTING} as reporting,
	${LAST_REPORTED_AT} as last_reported_at, t.hardware_uuid,
	t.serial_number, t.hostname, t.platform, t.os_version, t.agent_version, t.agent_name,
	t.owner_id,
	(
		select p.full_name from people p
		where p.organization_id = t.organization_id and p.id = t.owner_id
	) as owner_name,
	t.claimed_owner_id,
	(
		select p.full_name from people p
		where p.organization_id = t.organization_id and p.id = t.claimed_owner_id
	) as claimed_owner_name,
	t.awaits_approval and t.status = 'PENDING' as awaits_approval, t.enrollment_key_id,
	(
		select k.name from enrollment_keys k
		where k.organization_id = t.organization_id and k.id = t.enrollment_key_id
	) as enrollment_key_name,
	t.predecessor_id,
	(
		select s.id from devices s
		where s.organization_id = t.organization_id and s.predecessor_id = t.id
		order by s.created_at desc limit 1
	) as successor_id,
	t.enrolled_at, t.last_seen_at, t.revoked_at,
	array(
		select c.kind from device_conflicts c
		where c.organization_id = t.organization_id and c.device_id = t.id
		order by c.kind
	) as conflicts,
	(
		select jsonb_build_object(
			'id', o.id, 'name', coalesce(o.name, o.hostname), 'serial_number', o.serial_number
		)
		from device_conflicts c
		join devices o on o.organization_id = t.organization_id and o.id = c.other_device_id
		where c.organization_id = t.organization_id and c.device_id = t.id
			and c.kind = 'DUPLICATE_HARDWARE'
	) as duplicate_of,
	(
		select count(*)::int from posture_spans s
		where s.organization_id = t.organization_id and s.device_id = t.id
			and s.is_current and s.status = 'FAIL'
	) as failing_count,
	t.created_at, t.updated_at`;

/**
 * An SQL expression for the status of a device `t` at a time in the past. It is null if the device
 * had not been added yet. An agent may have observed its device before it enrolled here, so a
 * device that had observed something was active.
 */
export const statusAt = (moment: string) => `
	case
		when t.revoked_at <= ${moment} then 'REVOKED'
		when t.activated_at <= ${moment} or exists (
			select from posture_spans s
			where s.organization_id = t.organization_id and s.device_id = t.id and s.since <= ${moment}
		) then 'ACTIVE'
		when t.created_at <= ${moment} then 'PENDING'
	end`;

export const DEVICES =
	"devices t join organizations o on o.id = t.organization_id";

/** A row that DEVICE_COLUMNS selects. */
export type DeviceRow = Omit<
	Device,
	| "postures"
	| "omitted_checks"
	| "groups"
	| "group_policies"
	| "compliance"
	| "compliant_by_exception"
	| "missing_checks"
>;
