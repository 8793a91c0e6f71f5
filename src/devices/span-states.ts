import { stateOfSpan } from "./check-states.ts";
import { isInForce } from "./exceptions/exception-status.ts";
import {
	graceOf,
	newDeviceGraceOf,
	policyOf,
	requiredChecks,
} from "./required-checks.ts";
import { isSilentSince, silencesAt } from "./silences.ts";

/** SQL of a range of devices: those whose ids come after one id, up to and including another. */
export interface Slice {
	after: string;
	upTo: string;
}

/** Returns the end of an SQL condition: the id lies in the slice, if there is one. */
export const inSlice = (id: string, slice: Slice | undefined) =>
	slice ? `and ${id} > ${slice.after} and ${id} <= ${slice.upTo}` : "";

/**
 * Returns the common table expressions that `IS_EXCUSED` needs, now or at a time in the past, whose
 * SQL is `at`:
 *
 * - `excuse`: a row for each device that an exception excuses from a check: check_key, device_id.
 * - `broad_excuse`: a row for each exception of a platform or of all devices, whose platform is null:
 *   check_key, platform. `IS_EXCUSED` reads all these rows for a span, so no row of a device is here.
 */
export function excusesAt(at?: string): string {
	const now = at ?? "now()";
	const inForce = `e.organization_id = $1 and ${isInForce(now)}`;
	return `excuse as materialized (
			select e.check_key, coalesce(e.device_id, m.device_id) as device_id
			from device_exceptions e
			left join device_exception_members m on e.scope = 'GROUP' and m.organization_id = $1
				and m.exception_id = e.id and m.since <= ${now} and coalesce(m.until > ${now}, true)
			where ${inForce} and coalesce(e.device_id, m.device_id) is not null
		), broad_excuse as materialized (
			select e.check_key, e.platform
			from device_exceptions e
			where ${inForce} and e.scope in ('PLATFORM', 'ALL')
		)`;
}

/**
 * SQL condition, over `excusesAt`: an exception excuses the device of the span `s` from its check.
 */
export const IS_EXCUSED = `(
		(s.device_id, s.check_key) in (select x.device_id, x.check_key from excuse x)
		or exists (
			select from broad_excuse x
			where x.check_key = s.check_key and coalesce(x.platform = (
				select d.platform from devices d where d.organization_id = $1 and d.id = s.device_id
			), true)
		)
	)`;

/**
 * Returns common table expressions with what `spanState` needs, now or at a time in the past, whose
 * SQL is `at`. None of them depends on a device, so a statement evaluates each of them once.
 *
 * - `rule`: a row for each check that a policy requires, with the columns of `requiredChecks`.
 * - `new_devices`: a row for each device of the slice in the days of grace of a new one: id.
 * - `excuse` and `broad_excuse`: see `excusesAt`.
 * - `quiet`: a row for each device that was silent at the time in the past: device_id, since.
 */
export function policyAt(at: string | undefined, slice?: Slice): string {
	const now = at ?? "now()";
	// `is true` keeps the planner from reading all new devices of the fleet for each slice.
	const isNew = `t.activated_at <= ${now}
				and t.activated_at > ${now} - (select max(r.longest_new_device_grace) from rule r)`;
	return `
		rule as materialized (${requiredChecks(at)}),
		new_devices as materialized (
			select t.id from devices t
			where t.organization_id = $1 and ${slice ? `(${isNew}) is true` : isNew}
				${inSlice("t.id", slice)}
		), ${excusesAt(at)} ${at === undefined ? "" : `, quiet as materialized ${silencesAt(at)}`}`;
}

/** Returns an SQL condition: nobody had confirmed the status of the span `s` for too long. */
export function isSilent(at: string | undefined): string {
	const unconfirmed = isSilentSince("s.last_observed_at", "s.device_id", at);
	return at === undefined
		? unconfirmed
		: `(${unconfirmed} or s.device_id in (
			select q.device_id from quiet q where ${isSilentSince("q.since", "q.device_id", at)}
		))`;
}

/**
 * Returns an SQL expression for the state that the last span `s` of a check means, over `policyAt`.
 * If there is no span, the state is NOT_REPORTED.
 */
export function spanState(at: string | undefined): string {
	const now = at ?? "now()";
	const policy = policyOf("s.device_id", at);
	// Most devices are not new, so the second condition reads few of them. When a whole fleet is new,
	// each lookup by the primary key still takes the same time. A lookup in `new_devices` would read
	// the whole fleet.
	const inGrace = `(
		s.since + (select ${graceOf(policy)} from rule r where r.check_key = s.check_key) > ${now}
		or s.device_id in (select n.id from new_devices n) and (
			select t.activated_at + ${newDeviceGraceOf(policy)} from devices t, rule r
			where t.organization_id = $1 and t.id = s.device_id and r.check_key = s.check_key
		) > ${now}
	)`;
	return stateOfSpan("s.status", {
		silent: isSilent(at),
		excused: IS_EXCUSED,
		inGrace,
	});
}
