import type { PoolClient } from "pg";
import { badFields } from "../../errors.ts";
import { readCheckStates } from "../read-check-states.ts";
import { EXCEPTION_STATUS } from "./exception-status.ts";

/** Most exceptions of a person about which nobody has decided yet. */
const MAX_REQUESTS = 20;

/** Most exceptions that a person can ask for in a day, however they were decided. */
const MAX_REQUESTS_A_DAY = 40;

/** A person who asks for an exception for an own device, by a link or signed in as a user. */
export interface Asker {
	organizationId: string;
	personId: string;
	userId: string | null;
}

interface Wanted {
	device_id: string;
	check_key: string;
}

/**
 * Throws bad_request unless the device belongs to the person, does not pass the check, and the
 * person has not asked for too much. Further requests of the person wait for the end of the
 * transaction, so that they do not exceed the limits together.
 */
export async function requireMayAsk(
	client: PoolClient,
	asker: Asker,
	wanted: Wanted,
): Promise<void> {
	await client.query(
		"select from people where organization_id = $1 and id = $2 for no key update",
		[asker.organizationId, asker.personId],
	);
	await requireOwnFailure(client, asker, wanted);
	await rejectTooMany(client, asker, wanted);
}

async function requireOwnFailure(
	client: PoolClient,
	{ organizationId, personId }: Asker,
	{ device_id, check_key }: Wanted,
): Promise<void> {
	const { rowCount } = await client.query(
		`select from devices
		where organization_id = $1 and id = $2 and owner_id = $3 and status <> 'REVOKED'
		for key share`,
		[organizationId, device_id, personId],
	);
	if (!rowCount) rejectDevice();
	const states = await readCheckStates(client, organizationId, [device_id]);
	const state = states.get(device_id)?.checks.get(check_key)?.check_state;
	if (state === "FAILING" || state === "IN_GRACE" || state === "UNKNOWN")
		return;
	reject(
		"check_key",
		"must be a check that has to be fixed on this device; reload the page to see its present state",
	);
}

async function rejectTooMany(
	client: PoolClient,
	{ organizationId, personId, userId }: Asker,
	{ device_id, check_key }: Wanted,
): Promise<void> {
	const { rows } = await client.query<{
		waiting: number;
		today: number;
		same: number;
	}>(
		`select count(*) filter (where t.status = 'REQUESTED' and t.is_own)::int as waiting,
			count(*) filter (where t.created_at > now() - interval '1 day' and t.is_own)::int as today,
			count(*) filter (
				where t.status in ('REQUESTED', 'SCHEDULED')
					and t.device_id = $3 and t.check_key = $4
			)::int as same
		from (
			select t.device_id, t.check_key, t.created_at, ${EXCEPTION_STATUS} as status,
				coalesce(t.requested_by_person_id = $2 or t.requested_by_id = $5, false) as is_own
			from device_exceptions t
			where t.organization_id = $1
				and (t.requested_by_person_id = $2 or t.requested_by_id = $5 or t.device_id = $3)
		) t`,
		[organizationId, personId, device_id, check_key, userId],
	);
	const { waiting = 0, today = 0, same = 0 } = rows[0] ?? {};
	if (same > 0) {
		reject("check_key", "an exception for this check was already requested");
	}
	if (waiting >= MAX_REQUESTS) {
		reject(
			"check_key",
			`you have asked for ${MAX_REQUESTS} exceptions that nobody has decided about, which is the maximum; wait for an answer`,
		);
	}
	if (today >= MAX_REQUESTS_A_DAY) {
		reject(
			"check_key",
			`you have asked for ${MAX_REQUESTS_A_DAY} exceptions within a day, which is the maximum; try again tomorrow`,
		);
	}
}

/** Throws the bad_request for a device that does not belong to the caller. */
export function rejectDevice(): never {
	reject("device_id", "is not one of your devices");
}

function reject(field: string, message: string): never {
	throw badFields([{ field, message }]);
}
