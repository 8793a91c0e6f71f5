import type { PoolClient } from "pg";
import { addEvents } from "../../events/add-events.ts";
import {
	type DeviceException,
	EXCEPTION_COLUMNS,
	eventData,
} from "./exception-record.ts";
import { REMINDER_DAYS } from "./exception-status.ts";

/**
 * Stores the events of exceptions that end soon or have ended, each once. The end itself needs no
 * change, because states are computed by the time.
 *
 * An exception that was approved fewer days before its end than a reminder asks for gets only the
 * later reminders.
 */
export async function noteEnds(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	for (const days of REMINDER_DAYS) {
		const { rows: due } = await client.query<{ id: string }>(
			`update device_exceptions e set reminded_days = $2
			where e.organization_id = $1 and e.decision = 'APPROVED' and e.end_noted_at is null
				and e.ends_at > now() and e.ends_at <= now() + $2 * interval '1 day'
				and greatest(e.starts_at, e.decided_at) < e.ends_at - $2 * interval '1 day'
				and coalesce(e.reminded_days > $2, true)
			returning e.id`,
			[organizationId, days],
		);
		await addAll(client, organizationId, "exception.expiring", due, { days });
	}
	const { rows: ended } = await client.query<{ id: string }>(
		`update device_exceptions e set end_noted_at = now()
		where e.organization_id = $1 and e.decision = 'APPROVED' and e.end_noted_at is null
			and e.ends_at <= now()
		returning e.id`,
		[organizationId],
	);
	await addAll(client, organizationId, "exception.ended", ended, {});
}

async function addAll(
	client: PoolClient,
	organizationId: string,
	type: "exception.expiring" | "exception.ended",
	found: { id: string }[],
	more: object,
): Promise<void> {
	if (found.length === 0) return;
	const { rows } = await client.query<DeviceException>(
		`select ${EXCEPTION_COLUMNS} from device_exceptions t
		where t.organization_id = $1 and t.id = any ($2) order by t.ends_at, t.id`,
		[organizationId, found.map(({ id }) => id)],
	);
	await addEvents(
		client,
		organizationId,
		rows.map((row) => ({
			type,
			record_id: row.id,
			data: { ...eventData(row), ...more },
		})),
	);
}
