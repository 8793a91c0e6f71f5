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
import { requireMayAsk } from "../devices/exceptions/own-exception.ts";
import { requestException } from "../devices/exceptions/request-exception.ts";
import { addEvents } from "../events/add-events.ts";
import type { Change } from "../operation.ts";
import {
	filledTextSchema,
	idSchema,
	timeSchema,
} from "../records/text-schemas.ts";
import type { From } from "../sign-in/exchange.ts";
import { personAsActor } from "./links.ts";
import { openVisit, type Visit } from "./visit.ts";

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
		const { check_key: check, ...others } = wanted;
		await requireMayAsk(
			client,
			{ organizationId, personId, userId: null },
			wanted,
		);
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
		};
		const added = await readException(context, id);
		noteException(context, undefined, added);
		for (const { fields } of changes) {
			fields.link = { after: visit.is_copied ? "COPIED" : "MAILED" };
			// The audit log names the person by this id, and an erasure finds the entry by it.
			fields.requested_by_person_id = { after: personId };
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
