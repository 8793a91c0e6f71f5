import type { PoolClient } from "pg";
import { MAJOR_CHECK } from "../check-rules.ts";
import { checkStates } from "../check-states.ts";
import type { Sweep } from "./sweep.ts";

/** Why a device no longer belongs to a nonconformity. */
export const END_REASONS = [
	"PASSED",
	"NOT_APPLICABLE",
	"EXCEPTED",
	"REVOKED",
	"DEVICE_DELETED",
	"POLICY",
	"CLOSED",
	"DELETED",
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** A device whose failure is over. */
export interface EndedPlace {
	nonconformity_id: string | null;
	end_reason: EndReason;
	was_held: boolean;
}

/** A failure that goes on, also one that a person's close holds. */
const GOES_ON = "(p.until is null or p.is_held)";

/**
 * The state of the place `p`. The statement reads the state of each place by itself, because a join
 * of all places with all states can take quadratic time.
 */
const STATE = checkStates({
	where: "r.check_key = p.check_key and d.id = p.device_id",
});

/** Reads the next places after a position, with the reason for the end of each one that is over. */
const NEXT_PLACES = `
	select p.position, p.nonconformity_id, p.is_held as was_held, x.later_since, x.later_report,
		case
			when p.device_id is null then 'DEVICE_DELETED'
			when x.status = 'REVOKED' then 'REVOKED'
			when x.status <> 'ACTIVE' then null
			when x.later = 'PASS' then 'PASSED'
			when x.later = 'NOT_APPLICABLE' then 'NOT_APPLICABLE'
			when c.state is null or not coalesce(r.opens_nonconformity, true) then 'POLICY'
			when c.exception_id is not null then 'EXCEPTED'
			-- The same failure is in grace again, because the grace has become longer.
			when c.status = 'FAIL' and c.since <= p.failing_since and c.grace_until > now() then 'POLICY'
		end as end_reason
	from (
		select * from nonconformity_devices p
		where p.organization_id = $1 and ${GOES_ON} and p.position > $2
		order by p.position limit $3
	) p
	left join lateral (${STATE}) c on true
	left join device_check_rules r on r.organization_id = $1 and r.check_key = p.check_key
		and r.valid_until is null
	left join lateral (
		select d.status, l.later, l.later_since, l.later_report
		from devices d
		left join lateral (
			select s.status as later, s.since as later_since, s.first_report_id as later_report
			from posture_spans s
			where s.organization_id = $1 and s.device_id = d.id and s.check_key = p.check_key
				and s.since > p.failing_since and s.status in ('PASS', 'NOT_APPLICABLE')
			order by s.since limit 1
		) l on true
		where d.organization_id = $1 and d.id = p.device_id
	) x on true`;

interface FoundPlace {
	position: string;
	nonconformity_id: string | null;
	was_held: boolean;
	end_reason: EndReason | null;
	later_since: string | null;
	later_report: string | null;
}

/** The places that a step ended. */
export interface EndedPlaces {
	ended: EndedPlace[];
	/** The last place that the step looked at. Undefined if there are no further ones. */
	place: string | undefined;
}

/**
 * Looks at the next places of devices, ends those whose failure is over, and returns them. A pass, a check that does not
 * apply, an exception, the end of the device or a change of the policy ends a failure. UNKNOWN and
 * silence do not: nothing shows that it is over.
 */
export async function endPlaces(
	client: PoolClient,
	organizationId: string,
	{ place, size }: Sweep,
): Promise<EndedPlaces> {
	if (place === undefined) return { ended: [], place };
	const { rows } = await client.query<FoundPlace>(
		`select * from (${NEXT_PLACES}) f order by f.position`,
		[organizationId, place, size],
	);
	const over = rows.filter(({ end_reason }) => end_reason !== null);
	if (over.length > 0) await storeEnds(client, organizationId, over);
	return {
		ended: over as EndedPlace[],
		place: rows.length === size ? rows.at(-1)?.position : undefined,
	};
}

async function storeEnds(
	client: PoolClient,
	organizationId: string,
	over: FoundPlace[],
): Promise<void> {
	await client.query(
		`update nonconformity_devices p set
			is_held = false,
			until = coalesce(p.until, case
				when e.end_reason in ('PASSED', 'NOT_APPLICABLE') then least(greatest(e.later_since, p.since), now())
				else now()
			end),
			end_reason = coalesce(p.end_reason, e.end_reason),
			end_report_id = case when e.end_reason in ('PASSED', 'NOT_APPLICABLE') then e.later_report end
		from jsonb_to_recordset($2) e
			(position bigint, end_reason text, later_since timestamptz, later_report text)
		where p.organization_id = $1 and p.position = e.position and p.position = any ($3::bigint[])`,
		[
			organizationId,
			JSON.stringify(over),
			over.map(({ position }) => position),
		],
	);
}

/** A check, or a check of one device, that needs a nonconformity. */
export interface Failure {
	check_key: string;
	/** Null unless each device has a nonconformity of its own. */
	device_id: string | null;
	severity: "MINOR" | "MAJOR";
	owner_id: string | null;
	is_per_device: boolean;
	/** The newest nonconformity that the service opened for it, if any. */
	nonconformity_id: string | null;
	/** Days since it was closed. Null if it is open. */
	closed_days: number | null;
	/** Devices that begin to fail. */
	device_ids: string[];
}

/** The failures that a step found. */
export interface FoundFailures {
	failures: Failure[];
	/** The last failure that the step looked at. Undefined if there are no further ones. */
	last: Pick<Sweep, "check" | "device"> | undefined;
}

/**
 * The next spans that fail after a position. It reads an index of them in its order. PostgreSQL
 * would read them in the order of `posture_spans_failing_since` if it sorted them afterwards.
 */
const NEXT_SPANS = `
	select s.check_key as check, s.device_id as device, p.position is not null as is_known
	from (
		select s.check_key, s.device_id from posture_spans s
		where s.organization_id = $1 and s.is_current and s.status = 'FAIL'
			and (s.check_key, s.device_id) > ($2, $3)
		order by s.check_key, s.device_id limit $4
	) s
	left join nonconformity_devices p on p.organization_id = $1 and p.check_key = s.check_key
		and p.device_id = s.device_id and ${GOES_ON}
	order by s.check_key, s.device_id`;

/**
 * Looks at the next checks of devices that fail, and returns the failures that are in no
 * nonconformity, each with the nonconformity that the service opened for it before. A failure that
 * a person's close holds is not among them.
 */
export async function findFailures(
	client: PoolClient,
	organizationId: string,
	{ check, device, size }: Sweep,
	limit: number,
): Promise<FoundFailures> {
	const { rows: spans } = await client.query<{
		check: string;
		device: string;
		is_known: boolean;
	}>(NEXT_SPANS, [organizationId, check, device, size]);
	const end = spans.length === size ? spans.at(-1) : undefined;
	const last = end && { check: end.check, device: end.device };
	const unknown = spans.filter(({ is_known }) => !is_known);
	if (unknown.length === 0) return { failures: [], last };
	const { rows: failures } = await client.query<Failure>(
		`with failing as (
			select f.device_id, f.check_key
			from (${checkStates({ statuses: ["FAIL"], ids: "$2::text[]", check: "any($3::text[])" })}) f
			where f.state = 'FAILING' and not exists (
				select from nonconformity_devices p
				where p.organization_id = $1 and p.check_key = f.check_key and p.device_id = f.device_id
					and ${GOES_ON}
			)
		), needed as (
			select f.check_key, case when r.per_device then f.device_id end as device_id,
				coalesce(r.per_device, false) as is_per_device, array_agg(f.device_id::text) as device_ids,
				coalesce(min(r.severity), case f.check_key when '${MAJOR_CHECK}' then 'MAJOR' else 'MINOR' end) as severity,
				min(r.owner_id) as owner_id
			from failing f
			left join device_check_rules r on r.organization_id = $1 and r.check_key = f.check_key
				and r.valid_until is null
			where coalesce(r.opens_nonconformity, true)
			group by 1, 2, 3
		)
		select n.*, k.nonconformity_id,
			extract(epoch from now() - k.closed_at)::float8 / 86400 as closed_days
		from needed n
		left join lateral (
			select k.nonconformity_id, k.closed_at from check_nonconformities k
			where k.organization_id = $1 and k.check_key = n.check_key
				and k.is_per_device = n.is_per_device
				and k.device_id is not distinct from n.device_id
			order by k.closed_at desc nulls first, k.opened_at desc limit 1
		) k on true
		order by n.check_key, n.device_id
		limit $4`,
		[
			organizationId,
			unknown.map(({ device }) => device),
			[...new Set(unknown.map(({ check }) => check))],
			limit,
		],
	);
	return { failures, last };
}

/**
 * Adds the devices of a failure to a nonconformity, in one statement. Failures that a person's
 * close held join it too, because it is open again. Returns the number of added devices.
 */
export async function addPlaces(
	client: PoolClient,
	organizationId: string,
	nonconformityId: string,
	{ check_key, device_id, device_ids }: Failure,
): Promise<number> {
	const { rows: held } = await client.query<{ device_id: string | null }>(
		`update nonconformity_devices set is_held = false
		where organization_id = $1 and check_key = $2 and is_held
			and ($3::text is null or device_id = $3)
		returning device_id`,
		[organizationId, check_key, device_id],
	);
	const { rowCount } = await client.query(
		`insert into nonconformity_devices
			(organization_id, nonconformity_id, check_key, device_id, failing_since, report_id)
		select $1, $3, f.check_key, f.device_id, f.since, f.report_id
		from (${checkStates({ statuses: ["FAIL"], check: "$2", ids: "$4::text[]" })}) f
		where f.state = 'FAILING' and not exists (
			select from nonconformity_devices p
			where p.organization_id = $1 and p.check_key = f.check_key and p.device_id = f.device_id
				and p.until is null
		)
		on conflict do nothing`,
		[
			organizationId,
			check_key,
			nonconformityId,
			[...device_ids, ...held.map((place) => place.device_id)],
		],
	);
	return rowCount ?? 0;
}
