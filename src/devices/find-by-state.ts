import { complianceOf, lastSpans } from "./check-states.ts";
import { statusAt } from "./device-record.ts";
import { isRequired, policyOf, policyOfAll } from "./required-checks.ts";
import { isSilent, policyAt, spanState } from "./span-states.ts";

/** States of a device that a caller asks for. Every text is SQL. */
export interface Wanted {
	/** A time in the past. The present unless given. */
	at: string | undefined;
	/** Condition on the key of a check. Only the checks that meet it are read. */
	check?: (key: string) => string;
	/** Returns an expression over `states`, a query for the check_key and state of each check. */
	one: (states: string) => string;
	/**
	 * Returns an aggregate expression over the spans `s` of a device. `state` is the state of a span,
	 * and `isMissing` a condition that says whether a required check has no span.
	 */
	group: (state: string, isMissing: string) => string;
}

const isActive = (at: string | undefined) =>
	at === undefined ? "t.status = 'ACTIVE'" : `${statusAt(at)} = 'ACTIVE'`;

const and = (condition: string | undefined) =>
	condition === undefined ? "" : `and ${condition}`;

/** The checks that each policy requires on each platform. The organization's policy has no id. */
const appliesTo = (check: Wanted["check"]) => `applies as materialized (
		select coalesce(g.id, '') as policy, p.platform, r.check_key
		from rule r
		cross join unnest(r.platforms) p (platform)
		cross join (
			select null as id
			union all
			select y.id::text from device_group_policies y where y.organization_id = $1
		) g
		where ${isRequired("g.id", "p.platform")} ${and(check?.("r.check_key"))}
	)`;

/** Returns an SQL condition: the check of the span `s` applies to the device `t`. */
const doesApply = (policy: string) =>
	`(coalesce(${policy}, ''), t.platform, s.check_key) in (
		select a.policy, a.platform, a.check_key from applies a
	)`;

/**
 * Returns a condition on an ACTIVE device `t` that reads the spans of this device only. A page
 * walks the devices in the list's order and stops when it is full.
 */
export function matchesOne({ at, check, one }: Wanted): string {
	const span =
		at === undefined
			? `posture_spans s on s.organization_id = $1 and s.device_id = t.id
				and s.check_key = r.check_key and s.is_current`
			: `lateral (
				select x.* from posture_spans x
				where x.organization_id = $1 and x.device_id = t.id and x.check_key = r.check_key
					and x.since <= ${at}
				order by x.since desc limit 1
			) s on true`;
	const policy = at === undefined ? "t.group_policy_id" : policyOf("t.id", at);
	const states = `
		select r.check_key, ${spanState(at)} as state
		from rule r left join ${span}
		where ${isRequired(policy, "t.platform")} ${and(check?.("r.check_key"))}`;
	// Without coalesce, the planner takes the condition to be true for very few devices. It would
	// sort them all instead of walking the list's index.
	return `${isActive(at)} and coalesce((with ${policyAt(at)} ${one(states)}), false)`;
}

/**
 * Returns the parts of a query for the ACTIVE devices `t` that reads the spans of all devices once,
 * in the order of the devices' ids.
 */
function groupedByDevice({ at, check, group }: Omit<Wanted, "one">) {
	const policy = policyOfAll("t", at);
	const isMissing = `count(s.check_key) < (
		select count(*) from applies a
		where a.platform = t.platform and a.policy = coalesce(${policy.column}, '')
	)`;
	return {
		with: `${policyAt(at)}, ${appliesTo(check)}`,
		from: `devices t
			${policy.join}
			left join ${lastSpans(at)} s on s.device_id = t.id ${and(check?.("s.check_key"))}
				and ${doesApply(policy.column)}
			where t.organization_id = $1 and ${isActive(at)}
			group by t.organization_id, t.id, t.platform, ${policy.column}`,
		value: group(spanState(at), isMissing),
	};
}

/**
 * Returns a condition on a device `t` that reads the devices in the order of their ids. A count
 * stops when it has enough.
 */
export function matchesAmongAll(wanted: Wanted): string {
	const { with: expressions, from, value } = groupedByDevice(wanted);
	return `t.id in (with ${expressions} select t.id from ${from} having ${value})`;
}

/** Returns a condition on an ACTIVE device `t`: a required check is STALE. It groups nothing. */
export function isStaleAmongAll({
	at,
	check,
}: Pick<Wanted, "at" | "check">): string {
	const policy = policyOfAll("t", at);
	return `t.id in (
		with ${policyAt(at)}, ${appliesTo(check)}
		select t.id from ${lastSpans(at)} s
		join devices t on t.organization_id = $1 and t.id = s.device_id
		${policy.join}
		where ${isSilent(at)} and ${isActive(at)} ${and(check?.("s.check_key"))}
			and ${doesApply(policy.column)}
	)`;
}

/** Returns a query for the id and the compliance of each ACTIVE device. */
export function complianceOfEach(at: string | undefined): string {
	const {
		with: expressions,
		from,
		value,
	} = groupedByDevice({
		at,
		group: complianceOf,
	});
	return `with ${expressions} select t.id, ${value} as compliance from ${from}`;
}
