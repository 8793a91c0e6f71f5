import { COMPLIANCE, lastSpans } from "./check-states.ts";
import { DEVICES, staleAfter } from "./device-record.ts";
import { isRequired, policyOfAll } from "./required-checks.ts";
import {
	inSlice,
	isSilent,
	policyAt,
	type Slice,
	spanState,
} from "./span-states.ts";

/**
 * Returns common table expressions that say what the ACTIVE devices of the organization $1 report
 * and what it means by the policy, now or at a time in the past, whose SQL is `at`.
 *
 * The devices of a fleet resemble each other, so only the first step reads each span. It describes
 * a device by the keys of the checks that pass, and by a text for each other check. The further
 * steps judge all devices with the same description together.
 *
 * | name | a row for each |
 * |---|---|
 * | `fleet` | device: id, platform, owner_id, group_policy_id, is_online, is_stale, fails, and its description |
 * | `pattern` | description of devices with a platform and policy, online and stale or not: n, devices |
 * | `reported` | check that the devices of a pattern reported: n, check_key, status, state |
 * | `required` | check that their policy requires of them: n, check_key, state |
 * | `judged` | pattern: n, compliance, is_excused |
 *
 * At a time in the past, only observations are known. A device belongs to the fleet if it had been
 * activated by then and was not yet revoked. It is stale if its last observation was older than two
 * posture intervals. If a span of the history covers the time, that counts as an observation,
 * unless the device was silent.
 *
 * @param slice limits all this to the devices whose ids lie in it
 */
export function fleetStates(at?: string, slice?: Slice): string {
	const now = at ?? "now()";
	// Most checks pass, so these are described by their keys alone.
	const passes = `(s.status = 'PASS' and not ${isSilent(at)})`;
	const silentFor = (interval: string) =>
		`${now} - ${staleAfter(`o.${interval}`)}`;
	const isOnline = `coalesce(t.last_seen_at >= ${silentFor("heartbeat_interval_seconds")}, false)`;
	const observedAt =
		at === undefined ? "k.observed_at" : "least(k.observed_at, q.since)";
	const reports = `coalesce(${observedAt} >= ${silentFor("posture_interval_seconds")}, false)`;
	const [online, stale, isActive] =
		at === undefined
			? [
					isOnline,
					`not (${isOnline} and (
						t.activated_at >= ${silentFor("posture_interval_seconds")} or ${reports}
					))`,
					"t.status = 'ACTIVE'",
				]
			: [
					"false",
					`not ${reports}`,
					`coalesce(t.revoked_at > ${at}, true)
						and (t.activated_at <= ${at} or k.observed_at is not null)`,
				];
	const policy = policyOfAll("t", at);
	return `
		${policyAt(at, slice)}, known as (
			select
				s.device_id as id, least(max(s.last_observed_at), ${now}) as observed_at,
				array_agg(s.check_key) filter (where ${passes}) as passing,
				array_agg(s.status || ' ' || ${spanState(at)} || ' ' || s.check_key)
					filter (where not ${passes}) as others,
				bool_or(s.status = 'FAIL') as fails
			from ${lastSpans(at)} s
			where s.organization_id = $1 ${inSlice("s.device_id", slice)}
			group by s.device_id
		), fleet as materialized (
			select
				t.id, t.platform, t.owner_id, ${policy.column} as group_policy_id,
				coalesce(k.passing, '{}') as passing, coalesce(k.others, '{}') as others,
				coalesce(k.fails, false) as fails,
				${online} as is_online, ${stale} as is_stale
			from ${DEVICES}
			left join known k on k.id = t.id
			${policy.join}
			${at === undefined ? "" : "left join quiet q on q.device_id = t.id"}
			where t.organization_id = $1 and ${isActive} ${inSlice("t.id", slice)}
		), pattern as materialized (
			select
				row_number() over () as n, f.platform, f.group_policy_id, f.is_online, f.is_stale,
				f.passing, f.others, count(*)::int as devices
			from fleet f
			group by f.platform, f.group_policy_id, f.is_online, f.is_stale, f.passing, f.others
		), reported as materialized (
			select p.n, ${parts("c")}
			from pattern p cross join unnest(p.others) c
			union all
			select p.n, 'PASS', 'PASSING', c collate "C" from pattern p cross join unnest(p.passing) c
		), required as materialized (
			select p.n, r.check_key, coalesce(c.state, 'NOT_REPORTED') as state
			from pattern p
			join rule r on ${isRequired("p.group_policy_id", "p.platform")}
			left join reported c on c.n = p.n and c.check_key = r.check_key
		), judged as materialized (
			select p.n, coalesce(c.compliance, 'UNKNOWN') as compliance,
				coalesce(c.is_excused, false) as is_excused
			from pattern p
			left join (
				select c.n, ${COMPLIANCE} as compliance, bool_or(c.state = 'EXCEPTED') as is_excused
				from required c group by c.n
			) c on c.n = p.n
		)`;
}

/** The status, the state and the key of a check from the text that describes it. */
export const parts = (text: string) => `
	split_part(${text}, ' ', 1) as status, split_part(${text}, ' ', 2) as state,
	substr(${text}, length(split_part(${text}, ' ', 1)) + length(split_part(${text}, ' ', 2)) + 3)
		collate "C" as check_key`;
