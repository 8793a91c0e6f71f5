import { textArray } from "../db/array.ts";
import {
	DEFAULT_GRACE_DAYS,
	DEFAULT_NEW_DEVICE_GRACE_DAYS,
} from "./check-rules.ts";
import { MAX_SILENCE, silencesAt } from "./silences.ts";
import { CHECK_KEYS, PLATFORMS } from "./terms.ts";

/**
 * The states of a device for a check, the worst first. Every ACTIVE device has one state for each
 * check. `checkStates` defines them.
 */
export const CHECK_STATES = [
	"FAILING",
	"UNKNOWN",
	"STALE",
	"NOT_REPORTED",
	"IN_GRACE",
	"PASSING",
	"NOT_APPLICABLE",
] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/** The states of a device as a whole, the worst first. `COMPLIANCE` defines them. */
export const COMPLIANCES = [
	"NONCOMPLIANT",
	"UNKNOWN",
	"IN_GRACE",
	"COMPLIANT",
] as const;
export type Compliance = (typeof COMPLIANCES)[number];

const literal = (texts: readonly string[]) => `'${textArray(texts)}'::text[]`;

/** Returns the checks that the organization $1 requires, with their platforms and days of grace. */
const requiredChecks = (at: string | undefined) => `
	select
		k.check_key, coalesce(r.platforms, ${literal(PLATFORMS)}) as platforms,
		coalesce(r.grace_days, ${DEFAULT_GRACE_DAYS}) * interval '1 day' as grace,
		coalesce(r.new_device_grace_days, ${DEFAULT_NEW_DEVICE_GRACE_DAYS}) * interval '1 day' as new_device_grace
	from (
		select unnest(${literal(CHECK_KEYS)}) collate "C" as check_key
		union
		select x.check_key from device_check_rules x where x.organization_id = $1
	) k
	left join device_check_rules r on r.organization_id = $1 and r.check_key = k.check_key
		and ${at === undefined ? "r.valid_until is null" : `r.valid_from <= ${at} and coalesce(r.valid_until > ${at}, true)`}
	where coalesce(r.is_required, k.check_key = any(${literal(CHECK_KEYS)}))`;

/** Returns the last span of each check. `ids` is an SQL array that limits it to these devices. */
const lastSpans = (at: string | undefined, ids: string | undefined) => {
	const some = ids === undefined ? "" : `and x.device_id = any(${ids})`;
	return at === undefined
		? `(select * from posture_spans x where x.organization_id = $1 and x.is_current ${some})`
		: `(
			select distinct on (x.device_id, x.check_key) x.* from posture_spans x
			where x.organization_id = $1 and x.since <= ${at} ${some}
			order by x.device_id, x.check_key, x.since desc
		)`;
};

/** The part of the fleet that a statement about states reads. */
export interface StatesOf {
	/** SQL of a time in the past. The present unless given. */
	at?: string | undefined;
	/** SQL array of device ids. All devices unless given. */
	ids?: string | undefined;
	/** Condition on the device `d`, the check `r` and its last span `s`, which an index answers. */
	where?: string | undefined;
}

/**
 * Returns a query for the state of each ACTIVE device of the organization $1 for each check that
 * the policy requires on its platform. For any other check, the device is NOT_APPLICABLE.
 *
 * A status that nobody has confirmed for longer than the organization permits is STALE. A device
 * that fails is IN_GRACE until the days of grace since the failure began, or since the device was
 * activated, have passed. Missing data is never PASSING.
 */
export function checkStates({ at, ids, where }: StatesOf): string {
	const now = at ?? "now()";
	const isActive =
		at === undefined
			? "d.status = 'ACTIVE'"
			: `coalesce(d.revoked_at > ${at}, true) and (d.activated_at <= ${at} or exists (
				select from posture_spans y
				where y.organization_id = $1 and y.device_id = d.id and y.since <= ${at}
			))`;
	const graceUntil = `greatest(
		s.since + r.grace, case when d.activated_at <= ${now} then d.activated_at + r.new_device_grace end
	)`;
	// A status that goes on after a silence was not confirmed while the device was silent.
	const observedAt =
		at === undefined
			? "s.last_observed_at"
			: "least(s.last_observed_at, quiet.since)";
	const quiet =
		at === undefined
			? ""
			: `left join ${silencesAt(at, ids)} quiet on quiet.device_id = d.id`;
	// The planner can hash platforms one by one, but finds few spans sooner without them.
	const devices =
		where === undefined
			? `cross join unnest(r.platforms) p (platform)
				join devices d on d.organization_id = $1 and d.platform = p.platform`
			: "join devices d on d.organization_id = $1 and d.platform = any(r.platforms)";
	return `
		select
			d.id as device_id, d.platform, d.owner_id, r.check_key, s.status, s.since,
			case
				when s.status is null then 'NOT_REPORTED'
				when ${observedAt} < ${now} - ${MAX_SILENCE} then 'STALE'
				when s.status = 'PASS' then 'PASSING'
				when s.status = 'NOT_APPLICABLE' then 'NOT_APPLICABLE'
				when s.status = 'UNKNOWN' then 'UNKNOWN'
				when ${graceUntil} > ${now} then 'IN_GRACE'
				else 'FAILING'
			end as state,
			${graceUntil} as grace_until
		from (${requiredChecks(at)}) r
		${devices}
		left join ${lastSpans(at, ids)} s on s.device_id = d.id and s.check_key = r.check_key
		${quiet}
		where ${isActive} ${ids === undefined ? "" : `and d.id = any(${ids})`} and ${where ?? "true"}`;
}

/**
 * An SQL expression for the state of a device as a whole, over the states `c` of its checks.
 * Nothing is proved of a device without a check that passes, so it is UNKNOWN.
 */
export const COMPLIANCE = `
	case
		when bool_or(c.state = 'FAILING') then 'NONCOMPLIANT'
		when bool_or(c.state in ('UNKNOWN', 'STALE', 'NOT_REPORTED')) then 'UNKNOWN'
		when bool_or(c.state = 'IN_GRACE') then 'IN_GRACE'
		when bool_or(c.state = 'PASSING') then 'COMPLIANT'
		else 'UNKNOWN'
	end`;
