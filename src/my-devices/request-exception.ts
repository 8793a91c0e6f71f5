import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import { appendChanges } from "../audit/log.ts";
import { checkKeySchema } from "../devices/device-record.ts";
import { noteException } from "../devices/exceptions/exception-changes.ts";
import { addDeviceException } from "../devices/exceptions/exception-operations.ts";
import {
	eventData,
	readException,
} from "../devices/exceptions/exception-record.ts";
import { EXCEPTION_STATUS } from "../devices/exceptions/exception-status.ts";
import { requestException } from "../devices/exceptions/request-exception.ts";
import { readCheckStates } from "../devices/read-check-states.ts";
import { badFields } from "../errors.ts";
import { addEvents } from "../events/add-events.ts";
import type { Change, Context } from "../operation.ts";
import {
	filledTextSchema,
	idSchema,
	timeSchema,
} from "../records/text-schemas.ts";
import type { From } from "../sign-in/exchange.ts";
import { personAsActor } from "./links.ts";
import { openVisit, type Visit } from "./visit.ts";

/** Most exceptions of a person about which nobody has decided yet. */
export const MAX_REQUESTS = 20;

/** Most exceptions that a person can ask for in a day, however they were decided. */
const MAX_REQUESTS_A_DAY = 40;

export const exceptionInput = z.strictObject({
	device_id: idSchema("device"),
	check_key: checkKeySchema(),
	reason: filledTextSchema(),
	ends_at: timeSchema(),
});
type Wanted = z.output<typeof exceptionInput>;

/** An exception that somebody asked for, as the page of the device's owner shows it. */
export interface MyException {
	status: "REQUESTED" | "SCHEDULED" | "IN_FORCE" | "REJECTED";
	requested_at: string;
	ends_at: string;
	/** The words of the reader. Null if somebody else asked. */
	reason: string | null;
}

/**
 * Reads the newest exception of each device and check that has not ended, by the id of the device
 * and the key of the check. An exception for more than one device is not among them.
 */
export async function readMyExceptions(
	client: PoolClient,
	{ organization_id, people_id }: Visit,
	deviceIds: string[],
): Promise<Map<string, MyException>> {
	const { rows } = await client.query<MyException & { key: string }>(
		`select distinct on (t.device_id, t.check_key) t.device_id || ' ' || t.check_key as key,
			${EXCEPTION_STATUS} as status, t.created_at as requested_at, t.ends_at,
			case when t.requested_by_person_id = $3 then t.reason end as reason
		from device_exceptions t
		where t.organization_id = $1 and t.device_id = any ($2::text[]) and t.ends_at > now()
		order by t.device_id, t.check_key, t.created_at desc`,
		[organization_id, deviceIds, people_id],
	);
	return new Map(rows.map(({ key, ...exception }) => [key, exception]));
}

/**
 * Stores what the person of this session asks for: an exception from a check that their own device
 * does not pass. An administrator then decides about it. If the session was opened by a link that
 * an administrator copied, the request says so, and that administrator may not approve it. Throws
 * bad_request, which names the field, or unauthorized if the session has ended.
 */
export async function requestMyException(
	appPool: Pool,
	session: string,
	wanted: Wanted,
	from: From,
): Promise<void> {
	await openVisit(appPool, session, async (client, visit) => {
		const { organization_id: organizationId, people_id: personId } = visit;
		// Two requests of a person take turns, so that they do not exceed the limits.
		await client.query(
			"select from people where organization_id = $1 and id = $2 for no key update",
			[organizationId, personId],
		);
		await requireOwnFailure(client, visit, wanted);
		await rejectTooMany(client, visit, wanted);
		const { check_key: check, ...others } = wanted;
		const id = await requestException(
			client,
			organizationId,
			{ ...others, check },
			{ personId, linkCopiedById: visit.copied_by_id },
		);
		const changes: Change[] = [];
		const context = {
			client,
			membership: { organizationId },
			changed: (change: Change) => changes.push(change),
		} as unknown as Context;
		const added = await readException(context, id);
		noteException(context, undefined, added);
		for (const { fields } of changes) {
			fields.link = { after: visit.is_copied ? "COPIED" : "MAILED" };
		}
		await appendChanges(
			client,
			personAsActor(from),
			addDeviceException,
			organizationId,
			changes,
		);
		await addEvents(client, organizationId, [
			{
				type: "exception.requested",
				record_id: id,
				data: eventData(added),
			},
		]);
	});
}

/** Throws bad_request unless the device belongs to the person and does not pass the check. */
async function requireOwnFailure(
	client: PoolClient,
	{ organization_id, people_id }: Visit,
	{ device_id, check_key }: Wanted,
): Promise<void> {
	const { rowCount } = await client.query(
		`select from devices
		where organization_id = $1 and id = $2 and owner_id = $3 and status <> 'REVOKED'
		for key share`,
		[organization_id, device_id, people_id],
	);
	if (!rowCount) reject("device_id", "is not one of your devices");
	const states = await readCheckStates(client, organization_id, [device_id]);
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
	{ organization_id, people_id }: Visit,
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
				coalesce(t.requested_by_person_id = $2, false) as is_own
			from device_exceptions t
			where t.organization_id = $1 and (t.requested_by_person_id = $2 or t.device_id = $3)
		) t`,
		[organization_id, people_id, device_id, check_key],
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

function reject(field: string, message: string): never {
	throw badFields([{ field, message }]);
}
