import type { PoolClient } from "pg";
import { z } from "zod";
import { idSchema, nameSchema } from "../records/field.ts";
import {
	CANONICAL_CHECKS,
	INTERVALS_UNTIL_STALE,
	isCanonicalCheck,
	PLATFORMS,
	POSTURE_STATUSES,
	STALE_SLACK_SECONDS,
} from "./terms.ts";

export const DEVICE_STATUSES = ["PENDING", "ACTIVE", "REVOKED"] as const;

/** An SQL interval: how long after its last sign a device counts as stale. */
export const staleAfter = (intervalSeconds: string) =>
	`(${INTERVALS_UNTIL_STALE} * ${intervalSeconds} + ${STALE_SLACK_SECONDS}) * interval '1 second'`;

export const FRESHNESSES = ["ONLINE", "STALE", "MISSING", "NEVER"] as const;

/**
 * How lately a device `t` of the organization `o` was heard of: ONLINE within twice its
 * heartbeat interval and a minute, STALE after that, MISSING after 7 days, NEVER before its
 * first heartbeat. Derived when read, so that no clock has to tick for it.
 */
export const FRESHNESS = `
	case
		when t.last_seen_at is null then 'NEVER'
		when t.last_seen_at >= now() - ${staleAfter("o.heartbeat_interval_seconds")} then 'ONLINE'
		when t.last_seen_at >= now() - interval '7 days' then 'STALE'
		else 'MISSING'
	end`;

/** Returns what people call a check, or null for a check that only its agent knows. */
export function checkName(checkKey: string): string | null {
	return isCanonicalCheck(checkKey) ? CANONICAL_CHECKS[checkKey].name : null;
}

export const postureStatus = z.enum(POSTURE_STATUSES);

/** What the agent saw, as it said it. */
export const evidence = z.record(z.string(), z.unknown()).nullable();

const currentPosture = z.object({
	check_key: z.string(),
	check_name: z.string().nullable(),
	status: postureStatus,
	since: z
		.string()
		.describe("Since when every observation has had this status"),
	observed_at: z.string().describe("When it was observed last"),
	evidence: evidence
		.optional()
		.describe("Absent unless asked for; null when none was kept"),
});

export const device = z.object({
	id: z.string(),
	organization_id: z.string(),
	name: z.string().nullable().describe("What people call it"),
	status: z.enum(DEVICE_STATUSES),
	freshness: z
		.enum(FRESHNESSES)
		.describe("How lately it was heard of; NEVER: no heartbeat yet"),
	hardware_uuid: z.string().nullable(),
	serial_number: z.string().nullable(),
	hostname: z.string().nullable(),
	platform: z.enum(PLATFORMS).nullable(),
	os_version: z.string().nullable(),
	agent_version: z.string().nullable(),
	owner_id: z.string().nullable().describe("Person who uses it"),
	enrolled_at: z.string().nullable(),
	last_seen_at: z.string().nullable(),
	revoked_at: z.string().nullable(),
	conflicts: z
		.array(z.enum(["DUPLICATE_HARDWARE", "POSSIBLE_CLONE"]))
		.describe("What an administrator should look at"),
	postures: z.array(currentPosture).describe("The latest state of each check"),
	created_at: z.string(),
	updated_at: z.string(),
});

export type Device = z.output<typeof device>;

/** Longer keys stand in the history as their beginning and their SHA-256. */
export const checkKeySchema = () => nameSchema().max(500);

export const deviceId = () => idSchema("device").describe("Id of the device");

/** What `select` has to read of a device `t` of the organization `o`; postures come apart. */
export const DEVICE_COLUMNS = `
	t.id, t.organization_id, t.name, t.status, ${FRESHNESS} as freshness, t.hardware_uuid,
	t.serial_number, t.hostname, t.platform, t.os_version, t.agent_version, t.owner_id,
	t.enrolled_at, t.last_seen_at, t.revoked_at,
	array(
		select c.kind from device_conflicts c
		where c.organization_id = t.organization_id and c.device_id = t.id
		order by c.kind
	) as conflicts,
	t.created_at, t.updated_at`;

export const DEVICES =
	"devices t join organizations o on o.id = t.organization_id";

/** The device with its postures and their evidence, undefined when there is none. */
export async function findDevice(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<Device | undefined> {
	const [{ rows }, postures] = await Promise.all([
		client.query<DeviceRow>({
			name: "get.device",
			text: `select ${DEVICE_COLUMNS} from ${DEVICES} where t.organization_id = $1 and t.id = $2`,
			values: [organizationId, id],
		}),
		readPostures(client, organizationId, [id], true),
	]);
	return rows[0] && toDevice(rows[0], postures);
}

/** What is read with DEVICE_COLUMNS. */
export type DeviceRow = Omit<Device, "postures">;

/** A row as callers see it. */
export function toDevice(row: DeviceRow, postures: PosturesOf): Device {
	return { ...row, postures: postures.get(row.id) ?? [] };
}

/** The latest state of each check, by device. */
export type PosturesOf = Map<string, Device["postures"]>;

/**
 * The present state of every check of these devices: one statement, whatever their history
 * and number. Evidence is in the raw report that was the last to confirm the state; it is
 * null when the agent gave none or retention has removed the report.
 */
export async function readPostures(
	client: PoolClient,
	organizationId: string,
	deviceIds: string[],
	withEvidence: boolean,
): Promise<PosturesOf> {
	const { rows } = await client.query({
		name: withEvidence ? "postures.evidence" : "postures",
		text: withEvidence ? POSTURES_WITH_EVIDENCE : POSTURES,
		values: [organizationId, deviceIds],
	});
	const postures: PosturesOf = new Map();
	for (const row of rows) {
		const ofDevice = postures.get(row.device_id) ?? [];
		ofDevice.push({
			check_key: row.check_key,
			check_name: checkName(row.check_key),
			status: row.status,
			since: row.since,
			observed_at: row.last_observed_at,
			...(withEvidence && { evidence: row.evidence }),
		});
		postures.set(row.device_id, ofDevice);
	}
	return postures;
}

const POSTURES = `
	select s.device_id, s.check_key, s.status, s.since, s.last_observed_at
	from posture_spans s
	where s.organization_id = $1 and s.device_id = any($2) and s.is_current
	order by s.device_id, s.check_key`;

// Nothing is observed more than five minutes after it was received: that bound leaves older
// partitions of the reports unread. A key over 500 characters stands in the history with its
// SHA-256 at the end (src/devices/postures.ts).
const POSTURES_WITH_EVIDENCE = `
	select s.device_id, s.check_key, s.status, s.since, s.last_observed_at, r.evidence
	from posture_spans s
	left join lateral (
		select e.result -> 'evidence' as evidence
		from posture_reports r, jsonb_array_elements(r.results) with ordinality e (result, n)
		where r.organization_id = s.organization_id and r.device_id = s.device_id
			and r.report_id = s.last_report_id
			and r.received_at >= s.last_observed_at - interval '6 minutes'
			and (
				e.result ->> 'check_key' = s.check_key
				or length(s.check_key) > 400 and right(s.check_key, 64)
					= encode(sha256(convert_to(e.result ->> 'check_key', 'UTF8')), 'hex')
			)
		order by (e.result ->> 'observed_at')::timestamptz = s.last_observed_at desc, r.received_at, e.n
		limit 1
	) r on true
	where s.organization_id = $1 and s.device_id = any($2) and s.is_current
	order by s.device_id, s.check_key`;
