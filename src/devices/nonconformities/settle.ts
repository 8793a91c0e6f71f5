import type { PoolClient } from "pg";
import { appendChanges } from "../../audit/log.ts";
import { addEvents, type NewEvent } from "../../events/add-events.ts";
import type { EventType } from "../../events/types.ts";
import { queueDeviceAlerts } from "../../notifications/queue-device-alerts.ts";
import type { Change, Context } from "../../operation.ts";
import { readToday } from "../../organizations/time-zone.ts";
import type { Principal } from "../../principal.ts";
import {
	existing,
	insertRecord,
	noteStored,
	updateRecord,
} from "../../records/store.ts";
import { prepareNew, type Values } from "../../records/values.ts";
import { nonconformity } from "../../registers/nonconformity.ts";
import { checkName } from "../device-record.ts";
import {
	addPlaces,
	type EndedPlace,
	endPlaces,
	type Failure,
	findFailures,
} from "./end-places.ts";
import { linkControls } from "./link-controls.ts";
import type { Sweep } from "./sweep.ts";

/** A failure that comes back within this time opens the same nonconformity again. */
export const REOPEN_DAYS = 30;
/** Most nonconformities that one step opens. A policy with one for each device may need many. */
const MAX_OPENED = 200;

/** The service itself, as the audit log names it. */
const SERVICE: Principal = {
	kind: "SYSTEM",
	userId: null,
	name: "Assay",
	memberships: [],
};

/**
 * Makes the nonconformities of an organization agree with the states of its devices: opens,
 * reopens and closes them, and keeps the list of their devices. One step looks at the next devices
 * of nonconformities and the next failures only. It works in the client's transaction, so a crash
 * leaves nothing half done, and a second run changes nothing.
 *
 * The service writes the status and `effectiveness_check` only. It never changes a text that people
 * wrote, and never touches a nonconformity that it did not open.
 *
 * With `sendsMail`, the owners of devices that newly fail and new owners of failing devices are
 * told. Returns the sweep for the next step, or undefined if the step was the last one.
 */
export async function settleNonconformities(
	client: PoolClient,
	organizationId: string,
	sendsMail: boolean,
	sweep: Sweep,
): Promise<Sweep | undefined> {
	const changes: Change[] = [];
	const events: NewEvent[] = [];
	const part: Omit<Context, "services" | "afterCommit"> = {
		client,
		membership: { organizationId, role: "admin" },
		principal: SERVICE,
		changed: (change: Change) => changes.push(change),
		happened: (event: NewEvent) => events.push(event),
	};
	// Nothing that is called here reads the services, or works after the commit.
	const context = part as Context;
	const { ended, place } = await endPlaces(client, organizationId, sweep);
	const { failures, last } =
		place === undefined
			? await findFailures(client, organizationId, sweep, MAX_OPENED)
			: { failures: [], last: undefined };
	const opened: string[] = [];
	for (const failure of failures) {
		const noted = [changes.length, events.length] as const;
		await client.query("savepoint opening");
		const id = await openFor(context, failure);
		if (id) {
			await client.query("release savepoint opening");
			opened.push(id);
			continue;
		}
		await client.query("rollback to savepoint opening");
		[changes.length, events.length] = noted;
	}
	if (sendsMail) await queueDeviceAlerts(client, organizationId, opened);
	await closeEmpty(context, ended);
	await addEvents(client, organizationId, events);
	if (changes.length > 0) {
		await appendChanges(
			client,
			SERVICE,
			"settleNonconformities",
			organizationId,
			changes,
		);
	}
	if (place !== undefined) return { ...sweep, place, isMore: false };
	const isMore = failures.length === MAX_OPENED;
	// The next step finds the rest of the failures among the same spans.
	if (isMore) return { ...sweep, place, isMore };
	return last && { ...sweep, ...last, place, isMore };
}

/**
 * Opens the nonconformity of a failure unless it is open, adds its devices, and returns its id.
 * Returns undefined if the failure has ended since it was found. A nonconformity without devices
 * would never close, so the caller takes back what was done.
 */
async function openFor(
	context: Context,
	failure: Failure,
): Promise<string | undefined> {
	const { client, membership } = context;
	const { organizationId } = membership;
	const { nonconformity_id: known, closed_days } = failure;
	const isOpen = known !== null && closed_days === null;
	const isReopened = closed_days !== null && closed_days < REOPEN_DAYS;
	const id =
		known !== null && (isOpen || isReopened)
			? known
			: await openNew(context, failure);
	if (isReopened) await setStatus(context, id, "OPEN", null);
	const devices = await addPlaces(client, organizationId, id, failure);
	if (devices === 0) return undefined;
	if (isOpen) {
		// The record stays as it is, so its history gets only the number of devices.
		context.changed({
			kind: nonconformity.kind,
			id,
			name: null,
			fields: { added_devices: { after: devices } },
		});
		return id;
	}
	noteEvent(
		context,
		isReopened ? "nonconformity.reopened" : "nonconformity.opened",
		id,
		{
			check_key: failure.check_key,
			...(failure.device_id && { device_id: failure.device_id }),
			severity: failure.severity,
			owner_id: failure.owner_id,
			devices,
		},
	);
	return id;
}

/** Says what the nonconformity is, and all ways in which it closes. */
function describe(check: string, isPerDevice: boolean): string {
	const [where, who, last] = isPerDevice
		? [" on a device", "The device", "it"]
		: ["", "A device", "the last device"];
	return `Assay opened this nonconformity because the check “${check}” fails${where} and the days of grace are over. It lists the devices with the reports that show the failure. ${who} leaves the list when it passes the check, when an exception excuses it, when it is revoked or deleted, when the check no longer applies to it, or when the device policy no longer demands the check or gives more time. Assay closes the nonconformity when ${last} has left. A device that falls silent stays in the list.`;
}

async function openNew(context: Context, failure: Failure): Promise<string> {
	const { client, membership } = context;
	const { check_key, device_id, severity, owner_id, is_per_device } = failure;
	const name = checkName(check_key) ?? check_key;
	const id = await insertRecord(
		context,
		nonconformity,
		prepareNew(nonconformity, {
			title: is_per_device
				? `A device fails: ${name}`
				: `Devices fail: ${name}`,
			description: describe(name, is_per_device),
			date_identified: await readToday(client),
			severity,
			owner_id,
		}),
	);
	await client.query(
		`insert into check_nonconformities (organization_id, nonconformity_id, check_key, device_id, is_per_device)
		values ($1, $2, $3, $4, $5)`,
		[membership.organizationId, id, check_key, device_id, is_per_device],
	);
	const [added = {}] = await noteStored(context, nonconformity, [{ id }]);
	await linkControls(
		context,
		{ id, name: String(added.reference_id) },
		check_key,
	);
	return id;
}

/** Closes the nonconformities whose last device has just left. */
async function closeEmpty(
	context: Context,
	ended: readonly EndedPlace[],
): Promise<void> {
	const left = new Set(
		ended
			.filter(({ was_held }) => !was_held)
			.map(({ nonconformity_id }) => nonconformity_id)
			.filter((id) => id !== null),
	);
	if (left.size === 0) return;
	const { client, membership } = context;
	const { rows } = await client.query<Closed>(
		`select k.nonconformity_id as id, k.check_key, k.device_id, k.effectiveness_check as written, (
			select jsonb_object_agg(e.end_reason, e.devices) from (
				select p.end_reason, count(*) as devices from nonconformity_devices p
				where p.organization_id = $1 and p.nonconformity_id = k.nonconformity_id
					and p.until >= k.opened_at
				group by p.end_reason
			) e
		) as reasons
		from check_nonconformities k
		join nonconformities n on n.organization_id = $1 and n.id = k.nonconformity_id
		where k.organization_id = $1 and k.nonconformity_id = any ($2::text[]) and n.status <> 'CLOSED'
			and not exists (
				select from nonconformity_devices p
				where p.organization_id = $1 and p.nonconformity_id = k.nonconformity_id and p.until is null
			)
		order by k.nonconformity_id`,
		[membership.organizationId, [...left]],
	);
	for (const closed of rows) {
		await setStatus(context, closed.id, "CLOSED", textOf(closed));
		noteEvent(context, "nonconformity.closed", closed.id, {
			check_key: closed.check_key,
			...(closed.device_id && { device_id: closed.device_id }),
			reasons: closed.reasons,
		});
	}
}

interface Closed {
	id: string;
	check_key: string;
	device_id: string | null;
	written: string | null;
	/** The number of devices by the reason why they left. */
	reasons: Partial<Record<string, number>>;
}

const WORDS: Record<string, (count: number) => string> = {
	PASSED: (n) => (n === 1 ? "1 device passes" : `${n} devices pass`),
	NOT_APPLICABLE: (n) => `the check does not apply to ${n} any more`,
	EXCEPTED: (n) => `${n} ${n === 1 ? "has" : "have"} an exception`,
	REVOKED: (n) => `${n} ${n === 1 ? "was" : "were"} revoked`,
	DEVICE_DELETED: (n) => `${n} ${n === 1 ? "was" : "were"} deleted`,
	POLICY: (n) => `the device policy no longer demands it of ${n}`,
};

/** Says how the effect of the action was checked. */
function textOf({ check_key, reasons }: Closed): string {
	const parts = Object.entries(WORDS).flatMap(([reason, words]) =>
		reasons[reason] ? [words(reasons[reason])] : [],
	);
	const at = new Date().toISOString().slice(0, 16).replace("T", " ");
	return `Assay closed it on ${at} UTC, because no failure of the check “${
		checkName(check_key) ?? check_key
	}” is open any more: ${parts.join(", ")}. The list of its devices says when each failure ended.`;
}

/**
 * Sets the status, and `effectiveness_check` unless a person wrote there. The service's own text
 * goes when the nonconformity opens again.
 */
async function setStatus(
	context: Context,
	id: string,
	status: "OPEN" | "CLOSED",
	text: string | null,
): Promise<void> {
	const { client, membership } = context;
	const before = await existing(context, nonconformity, id, "for update");
	const { rows } = await client.query<{ written: string | null }>(
		`select effectiveness_check as written from check_nonconformities
		where organization_id = $1 and nonconformity_id = $2`,
		[membership.organizationId, id],
	);
	const isOurs =
		before.effectiveness_check === null ||
		before.effectiveness_check === rows[0]?.written;
	const values: Values = {
		status,
		...(isOurs && { effectiveness_check: text }),
	};
	await updateRecord(context, nonconformity, id, values);
	if (isOurs) {
		await client.query(
			`update check_nonconformities set effectiveness_check = $3
			where organization_id = $1 and nonconformity_id = $2`,
			[membership.organizationId, id, text],
		);
	}
	await noteStored(context, nonconformity, [{ id, before }]);
}

function noteEvent(
	{ happened }: Context,
	type: EventType,
	id: string,
	data: Record<string, unknown>,
): void {
	happened({ type, record_id: id, data });
}
