import type { PoolClient } from "pg";
import type { PostureStatus } from "./wire.ts";

/**
 * How lately a device was heard of: ONLINE within twice its heartbeat interval and a
 * minute, STALE after that, MISSING after 7 days, NEVER before its first heartbeat.
 * Derived when read, so that no clock has to tick for it.
 */
export const FRESHNESS = `
	case
		when d.last_seen_at is null then 'NEVER'
		when d.last_seen_at >= now() - (2 * o.heartbeat_interval_seconds + 60) * interval '1 second' then 'ONLINE'
		when d.last_seen_at >= now() - interval '7 days' then 'STALE'
		else 'MISSING'
	end`;

export type Freshness = "ONLINE" | "STALE" | "MISSING" | "NEVER";

export interface DeviceSummary {
	id: string;
	name: string | null;
	status: "PENDING" | "ACTIVE" | "REVOKED";
	freshness: Freshness;
	hardware_uuid: string | null;
	hostname: string | null;
	platform: string | null;
	os_version: string | null;
	agent_version: string | null;
	last_seen_at: Date | null;
	/** Kinds of conflicts that an administrator should look at. */
	conflicts: string[];
}

export interface DeviceConflict {
	kind: "DUPLICATE_HARDWARE" | "POSSIBLE_CLONE";
	/** The live device that has the hardware; null for a possible clone. */
	other_device_id: string | null;
	/** What the machine that came last said of itself. */
	hardware_uuid: string;
	platform: string;
	hostname: string;
	occurrences: number;
	first_seen_at: Date;
	last_seen_at: Date;
}

export interface CurrentPosture {
	check_key: string;
	status: PostureStatus;
	/** Since when every observation gave this status. */
	since: Date;
	observed_at: Date;
}

const SELECT_SUMMARY = `
	select
		d.id, d.name, d.status, ${FRESHNESS} as freshness, d.hardware_uuid, d.hostname,
		d.platform, d.os_version, d.agent_version, d.last_seen_at,
		array(
			select c.kind from device_conflicts c
			where c.organization_id = d.organization_id and c.device_id = d.id
			order by c.kind
		) as conflicts
	from devices d
	join organizations o on o.id = d.organization_id
	where d.organization_id = $1`;

/** Devices of the client's organization, newest first, at most `limit`. */
export async function listDevices(
	client: PoolClient,
	organizationId: string,
	limit: number,
): Promise<DeviceSummary[]> {
	const { rows } = await client.query<DeviceSummary>(
		`${SELECT_SUMMARY} order by d.created_at desc, d.id limit $2`,
		[organizationId, limit],
	);
	return rows;
}

/** One device, undefined when the organization has no such device. */
export async function getDevice(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<DeviceSummary | undefined> {
	const { rows } = await client.query<DeviceSummary>(
		`${SELECT_SUMMARY} and d.id = $2`,
		[organizationId, deviceId],
	);
	return rows[0];
}

export async function listConflicts(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<DeviceConflict[]> {
	const { rows } = await client.query<DeviceConflict>(
		`select
			kind, other_device_id, hardware_uuid, platform, hostname,
			occurrences::int as occurrences, first_seen_at, last_seen_at
		from device_conflicts
		where organization_id = $1 and device_id = $2
		order by kind`,
		[organizationId, deviceId],
	);
	return rows;
}

/** The present state of every check of a device: one indexed read, whatever its history. */
export async function currentPostures(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<CurrentPosture[]> {
	const { rows } = await client.query<CurrentPosture>(
		`select check_key, status, since, last_observed_at as observed_at
		from posture_spans
		where organization_id = $1 and device_id = $2 and is_current
		order by check_key`,
		[organizationId, deviceId],
	);
	return rows;
}
