import { isInForce } from "./exceptions/exception-status.ts";
import {
	graceOf,
	isRequired,
	newDeviceGraceOf,
	policyOfAll,
	requiredChecks,
} from "./required-checks.ts";
import { isSilentSince, silencesAt } from "./silences.ts";
import type { PostureStatus } from "./terms.ts";

/**
 * The states of a device for a check, in the order of answers and metrics. Every ACTIVE device has
 * one state for each check. `checkStates` defines them, and `complianceOf` says which are worse.
 */
export const CHECK_STATES = [
	"FAILING",
	"UNKNOWN",
	"STALE",
	"NOT_REPORTED",
	"IN_GRACE",
	"EXCEPTED",
	"PASSING",
	"NOT_APPLICABLE",
] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/** The states of a device as a whole, the worst first. `complianceOf` defines them. */
export const COMPLIANCES = [
	"NONCOMPLIANT",
	"UNKNOWN",
	"IN_GRACE",
	"COMPLIANT",
] as const;
export type Compliance = (typeof COMPLIANCES)[number];

/**
 * Returns a subquery for the last span of each check until the time, now by default. `ids` is an
 * SQL array that limits it to these devices.
 */
export const lastSpans = (at: string | undefined, ids?: string | undefined) => {
	const some = ids === undefined ? "" : `and x.device_id = any(${ids})`;
	return at === undefined
		? `(select * from posture_spans x where x.organization_id = $1 and x.is_current ${some})`
		: `(
			select distinct on (x.device_id, x.check_key) x.* from posture_spans x
			where x.organization_id = $1 and x.since <= ${at} ${some}
			order by x.device_id, x.check_key, x.since desc
		)`;
};

/**
 * SQL of the exception that excuses the device `d` from the check `r`, as an array of its id and
 * its end. If there are several, it is the one that ends last. Null: there is none.
 */
const exceptionAt = (now: string) => `(
		select array[e.id::text, to_char(e.ends_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')]
		from device_exceptions e
		where e.organization_id = $1 and e.check_key = r.check_key and ${isInForce(now)}
			and case e.scope
				when 'DEVICE' then e.device_id = d.id
				when 'PLATFORM' then e.platform = d.platform
				when 'GROUP' then exists (
					select from device_exception_members m
					where m.organization_id = $1 and m.exception_id = e.id and m.device_id = d.id
						and m.since <= ${now} and coalesce(m.until > ${now}, true)
				)
				else true
			end
		order by e.ends_at desc, e.id limit 1
	)`;

/**
 * Returns an SQL expression for the state that the last span of a required check means. The parts
 * are SQL expressions for its status and for three conditions.
 */
export const stateOfSpan = (
	status: string,
	is: { silent: string; excused: string; inGrace: string },
) => `case
		when ${status} is null then 'NOT_REPORTED'
		when ${is.silent} then 'STALE'
		when ${status} = 'PASS' then 'PASSING'
		when ${status} = 'NOT_APPLICABLE' then 'NOT_APPLICABLE'
		when ${is.excused} then 'EXCEPTED'
		when ${status} = 'UNKNOWN' then 'UNKNOWN'
		when ${is.inGrace} then 'IN_GRACE'
		else 'FAILING'
	end`;

/** The part of the fleet that a statement about states reads. */
export interface StatesOf {
	/** SQL of a time in the past. The present unless given. */
	at?: string | undefined;
	/** SQL array of device ids. All devices unless given. */
	ids?: string | undefined;
	/** SQL of the key of the only check that is read. All checks unless given. */
	check?: string | undefined;
	/** Condition on the device `d`, the check `r` and its last span `s`. */
	where?: string | undefined;
	/** Reads only the last spans with these statuses, and so no state NOT_REPORTED. */
	statuses?: readonly PostureStatus[] | undefined;
}

/**
 * Returns a query for the state of each ACTIVE device of the organization $1 for each check that
 * the device's policy requires of it. For any other check, the device is NOT_APPLICABLE.
 *
 * A status that nobody has confirmed for longer than the organization permits is STALE. A device
 * that fails is IN_GRACE until the days of grace since the failure began, or since the device was
 * activated, have passed. An exception makes a device EXCEPTED that fails or cannot tell, but not
 * one that reports nothing. Missing data is never PASSING.
 */
export function checkStates({
	at,
	ids,
	check,
	where,
	statuses,
}: StatesOf): string {
	const now = at ?? "now()";
	const isActive =
		at === undefined
			? "d.status = 'ACTIVE'"
			: `coalesce(d.revoked_at > ${at}, true) and (d.activated_at <= ${at} or exists (
				select from posture_spans y
				where y.organization_id = $1 and y.device_id = d.id and y.since <= ${at}
			))`;
	const policy = policyOfAll("d", at);
	const graceUntil = `greatest(
		s.since + ${graceOf(policy.column)},
		case when d.activated_at <= ${now} then d.activated_at + ${newDeviceGraceOf(policy.column)} end
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
	const some = ids === undefined ? "" : `and d.id = any(${ids})`;
	const ofCheck = (column: string) =>
		check === undefined ? "" : `and ${column} = ${check}`;
	// The planner can hash platforms one by one, but finds few devices sooner without them.
	const devices =
		where === undefined
			? `cross join unnest(r.platforms) p (platform)
				join devices d on d.organization_id = $1 and d.platform = p.platform`
			: "join devices d on d.organization_id = $1 and d.platform = any(r.platforms)";
	// It expects few spans with a status, too, and would read them device by device. So they are
	// found on their own.
	const [first, from] =
		statuses === undefined
			? [
					"",
					`(${requiredChecks(at)} ${ofCheck("k.check_key")}) r
				${devices}
				left join ${lastSpans(at, ids)} s on s.device_id = d.id and s.check_key = r.check_key`,
				]
			: [
					`with rule as materialized (${requiredChecks(at)}), found as materialized (
				select s.* from ${lastSpans(at, ids)} s
				where s.status in ('${statuses.join("', '")}') ${ofCheck("s.check_key")}
			)`,
					`found s
				join rule r on r.check_key = s.check_key
				join devices d on d.organization_id = $1 and d.id = s.device_id
					and d.platform = any(r.platforms)`,
				];
	const state = stateOfSpan("x.status", {
		silent: isSilentSince("x.observed_at", "x.device_id", at),
		excused: "x.exception is not null",
		inGrace: `x.grace_until > ${now}`,
	});
	return `
		${first}
		select
			x.device_id, x.platform, x.owner_id, x.check_key, x.status, x.since,
			${state} as state,
			x.grace_until, x.report_id, x.exception[1] as exception_id, x.exception[2] as excepted_until
		from (
			select
				d.id as device_id, d.platform, d.owner_id, r.check_key, s.status, s.since,
				${observedAt} as observed_at, s.first_report_id as report_id, ${graceUntil} as grace_until,
				case when s.status in ('FAIL', 'UNKNOWN') then ${exceptionAt(now)} end as exception
			from ${from}
			${policy.join}
			${quiet}
			where ${isActive} and ${isRequired(policy.column, "d.platform")} ${some} and ${where ?? "true"}
		) x`;
}

/**
 * The states by their severity. A device as a whole is as its worst check. EXCEPTED and NOT_APPLICABLE
 * are less than PASSING, because they prove nothing: a device that has only these is UNKNOWN.
 */
const SEVERITIES: Record<CheckState, number> = {
	FAILING: 4,
	UNKNOWN: 3,
	STALE: 3,
	NOT_REPORTED: 3,
	IN_GRACE: 2,
	PASSING: 1,
	EXCEPTED: 0,
	NOT_APPLICABLE: 0,
};

/**
 * Returns an SQL expression for the state of a device as a whole, of an aggregate over its checks.
 * `state` is the state of a check, and `isMissing` a condition that says whether a further check
 * was not reported. Nothing is proved of a device without a check that passes, so it is UNKNOWN. A
 * check from which it is EXCEPTED does not count.
 */
export function complianceOf(state: string, isMissing = "false"): string {
	const severities = Object.entries(SEVERITIES)
		.map(([name, severity]) => `when '${name}' then ${severity}`)
		.join(" ");
	return `case greatest(
			max(case ${state} ${severities} end),
			case when ${isMissing} then ${SEVERITIES.NOT_REPORTED} end
		)
		when 4 then 'NONCOMPLIANT'
		when 3 then 'UNKNOWN'
		when 2 then 'IN_GRACE'
		when 1 then 'COMPLIANT'
		else 'UNKNOWN'
	end`;
}

/** The state of a device as a whole, over the states `c` of its checks. */
export const COMPLIANCE = complianceOf("c.state");
