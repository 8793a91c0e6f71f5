import type { PoolClient } from "pg";
import { enforceLimit } from "../../db/enforce-limit.ts";
import { type AppError, badFields } from "../../errors.ts";
import { makeId } from "../../id.ts";
import { DAY_MS } from "../../units.ts";
import { findCheckKey } from "../check-keys.ts";
import type { Platform } from "../terms.ts";
import { EXCEPTION_STATUS, MAX_EXCEPTION_DAYS } from "./exception-status.ts";

/** Most exceptions of an organization that are requested or have not ended. */
const MAX_OPEN = 1000;

/** The devices that an exception covers: at most one of these, or all devices. */
export interface Covered {
	device_id?: string | undefined;
	group_id?: string | undefined;
	platform?: Platform | undefined;
}

export interface RequestedException extends Covered {
	/** Key or name of the check. */
	check: string;
	reason: string;
	/** Now unless given. */
	starts_at?: string | undefined;
	ends_at: string;
}

/** A user who asks, or a person without an account, by a link that a user may have copied. */
export type Requester =
	| { userId: string | null; name: string }
	| { personId: string; linkCopiedById: string | null };

/**
 * Stores a request for an exception and returns its id. An administrator then decides about it.
 * The caller writes the audit entry and the event `exception.requested`. Throws bad_request, which
 * names the field.
 */
export async function requestException(
	client: PoolClient,
	organizationId: string,
	wanted: RequestedException,
	by: Requester,
): Promise<string> {
	const { device_id, group_id, platform, reason } = wanted;
	const check = await findCheckKey(client, organizationId, wanted.check).catch(
		renameCheckKey,
	);
	const scope = await scopeOf(client, organizationId, wanted);
	const startsAt = wanted.starts_at ?? new Date().toISOString();
	checkPeriod(startsAt, wanted.ends_at);
	await enforceLimit(client, {
		lock: `exceptions ${organizationId}`,
		from: `device_exceptions t where t.organization_id = $1 and t.ends_at > now()
			and ${EXCEPTION_STATUS} not in ('ENDED', 'REJECTED')`,
		values: [organizationId],
		max: MAX_OPEN,
		error: tooManyOpen,
	});
	const id = makeId(organizationId, "device_exception");
	await client.query(
		`insert into device_exceptions (
			organization_id, id, check_key, scope, device_id, group_id, platform, reason, starts_at,
			ends_at, requested_by_id, requested_by_name, requested_by_person_id, link_copied_by_id,
			needs_two_people
		) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, exists (
			select from device_policies
			where organization_id = $1::typed_id and exceptions_need_two_people
		))`,
		[
			organizationId,
			id,
			check,
			scope,
			device_id,
			group_id,
			platform,
			reason,
			startsAt,
			wanted.ends_at,
			...("personId" in by
				? [null, null, by.personId, by.linkCopiedById]
				: [by.userId, by.name, null, null]),
		],
	);
	return id;
}

/** Throws a bad_request unless the exception ends in the future and soon enough after its start. */
export function checkPeriod(startsAt: string, endsAt: string): void {
	const start = Date.parse(startsAt);
	const end = Date.parse(endsAt);
	const reject = (message: string) => {
		throw badFields([{ field: "ends_at", message }]);
	};
	if (end <= Date.now()) reject("must be in the future");
	if (end <= start) reject("must be after the start");
	if (end - start > MAX_EXCEPTION_DAYS * DAY_MS) {
		reject(`must be at most ${MAX_EXCEPTION_DAYS} days after the start`);
	}
}

async function scopeOf(
	client: PoolClient,
	organizationId: string,
	{ device_id, group_id, platform }: Covered,
): Promise<string> {
	const given = Object.entries({ device_id, group_id, platform }).filter(
		([, value]) => value !== undefined,
	);
	const [first, second] = given;
	if (second) {
		throw badFields([
			{
				field: second[0],
				message: `an exception is for a device, a group or a platform; give only one of them, or none for all devices`,
			},
		]);
	}
	if (!first) return "ALL";
	if (device_id) await requireDevice(client, organizationId, device_id);
	if (group_id) await requireGroup(client, organizationId, group_id);
	return { device_id: "DEVICE", group_id: "GROUP", platform: "PLATFORM" }[
		first[0]
	] as string;
}

async function requireDevice(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<void> {
	const { rows } = await client.query<{ status: string }>(
		"select status from devices where organization_id = $1 and id = $2 for key share",
		[organizationId, id],
	);
	const why = !rows[0]
		? `there is no device ${id}`
		: rows[0].status === "REVOKED"
			? "the device is revoked, so it needs no exception"
			: undefined;
	if (why) throw badFields([{ field: "device_id", message: why }]);
}

async function requireGroup(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<void> {
	const { rows } = await client.query<{ is_by_state: boolean }>(
		`select coalesce(filter ?| array['check_state', 'compliance'], false) as is_by_state
		from device_groups where organization_id = $1 and id = $2 for key share`,
		[organizationId, id],
	);
	const why = !rows[0]
		? `there is no device group ${id}`
		: rows[0].is_by_state
			? "the filter of the group depends on the state of checks, which the exception would change; choose another group"
			: undefined;
	if (why) throw badFields([{ field: "group_id", message: why }]);
}

function tooManyOpen(): AppError {
	return badFields([
		{
			field: "check",
			message: `the organization has ${MAX_OPEN} exceptions that have not ended, which is the maximum; end one first`,
		},
	]);
}

/** The input of an exception calls the check `check`. */
function renameCheckKey(error: unknown): never {
	const { fields } = error as { fields?: { field: string; message: string }[] };
	if (fields?.[0]?.field !== "check_key") throw error;
	throw badFields([{ field: "check", message: fields[0].message }]);
}
