import type { PoolClient } from "pg";
import { addEvents } from "../events/add-events.ts";
import { KEY_STATE, KEY_WARNING } from "./enrollment-key-record.ts";

const EVENTS = {
	RUNNING_OUT: "enrollment_key.running_out",
	ENDED: "enrollment_key.ended",
} as const;

interface Told {
	id: string;
	told: keyof typeof EVENTS;
	state: string;
	expires_at: string;
	max_devices: number;
	used: number;
}

/**
 * Stores an event for each enrollment key that has begun to run out, or has ended by itself. There
 * is one event for each warning. Keys with which devices enroll at this moment are skipped until the
 * next call, because waiting for them would hold up both.
 */
export async function tellOfKeys(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	const { rows } = await client.query<Told>(
		`with due as materialized (
			select t.id, ${KEY_WARNING} as warning
			from enrollment_keys t
			where t.organization_id = $1 and t.revoked_at is null and t.told is distinct from 'ENDED'
				and ${KEY_WARNING} is distinct from t.told
			order by t.id
			for no key update skip locked
		)
		update enrollment_keys t set told = d.warning
		from due d
		where t.organization_id = $1 and t.id = d.id and d.warning is not null
		returning t.id, t.told, ${KEY_STATE} as state, t.expires_at, t.max_devices, t.used`,
		[organizationId],
	);
	await addEvents(
		client,
		organizationId,
		rows.map(({ id, told, ...data }) => ({
			type: EVENTS[told],
			record_id: id,
			data,
		})),
	);
}

/** Counts the keys of which administrators are told on their home page. */
export async function countEndingKeys(
	client: PoolClient,
	organizationId: string,
): Promise<{ running_out: number; ended: number }> {
	const { rows } = await client.query<{ running_out: number; ended: number }>({
		name: "overview.ending_keys",
		text: `
			select
				(count(*) filter (where ${KEY_WARNING} = 'RUNNING_OUT'))::int as running_out,
				(count(*) filter (where ${KEY_WARNING} = 'ENDED'))::int as ended
			from enrollment_keys t where t.organization_id = $1 and t.revoked_at is null`,
		values: [organizationId],
	});
	return rows[0] ?? { running_out: 0, ended: 0 };
}
