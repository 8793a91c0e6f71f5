import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import type { Filter } from "../records/filter.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { checkKeysOf, whyNoCheck } from "./check-keys.ts";
import {
	CHECK_STATES,
	type CheckState,
	COMPLIANCE,
	COMPLIANCES,
	checkStates,
	complianceOf,
} from "./check-states.ts";
import { checkKeySchema } from "./device-record.ts";
import {
	isStaleAmongAll,
	matchesAmongAll,
	matchesOne,
	type Wanted,
} from "./find-by-state.ts";
import type { PostureStatus } from "./terms.ts";

/** The raw statuses that these states come from. An index finds the few spans that have them. */
const STATUSES_OF: Partial<Record<CheckState, readonly PostureStatus[]>> = {
	FAILING: ["FAIL"],
	IN_GRACE: ["FAIL"],
	EXCEPTED: ["FAIL", "UNKNOWN"],
	UNKNOWN: ["UNKNOWN"],
};

/** Returns all statuses that the states come from, or undefined if other spans have them too. */
function statusesOf(states: readonly CheckState[]) {
	const statuses = new Set<PostureStatus>();
	for (const state of states) {
		const some = STATUSES_OF[state];
		if (!some) return undefined;
		for (const status of some) statuses.add(status);
	}
	return [...statuses];
}

/** A device has this state for a check for which it has no other one. */
const NONE = "NOT_APPLICABLE" satisfies CheckState;

const statesIn = (value: unknown) => [value].flat() as CheckState[];

const isNoncompliant = (value: unknown) =>
	[value].flat().join() === "NONCOMPLIANT";

const among = (ids: string) => `t.id = any(array(${ids}))`;

/**
 * Returns the filters by states, for the present or for a time in the past. Each parameter begins
 * with the time, or with an empty text for the present.
 */
export function stateFilters(when: "now" | "as_of"): Record<string, Filter> {
	const at = (p: string) =>
		when === "now" ? undefined : `(${p}::text[])[1]::timestamptz`;
	const isWanted = (p: string, state: string) =>
		`${state} = any(string_to_array((${p}::text[])[2], ','))`;
	/** Limits the states to the check, if the caller gives one. */
	const ofCheck = (p: string) => (key: string) =>
		`(cardinality(${p}::text[]) = 2 or ${key} = any((${p}::text[])[3:]))`;
	const stateIs = (p: string, states: readonly CheckState[]): Wanted => ({
		at: at(p),
		check: ofCheck(p),
		one: (all) =>
			`select exists (select from (${all}) c where ${isWanted(p, "c.state")})
			${states.includes(NONE) ? `or not exists (select from (${all}) c where c.state <> '${NONE}')` : ""}`,
		group: (state, isMissing) => {
			const some = (condition: string) =>
				`coalesce(bool_or(s.check_key is not null and ${condition}), false)`;
			return `${some(isWanted(p, state))}
				${states.includes("NOT_REPORTED") ? `or ${isMissing}` : ""}
				${states.includes(NONE) ? `or not (${isMissing} or ${some(`${state} <> '${NONE}'`)})` : ""}`;
		},
	});
	const complianceIs = (p: string): Wanted => {
		const values = `any((${p}::text[])[2:])`;
		return {
			at: at(p),
			one: (states) => `select ${COMPLIANCE} = ${values} from (${states}) c`,
			group: (state, isMissing) =>
				`${complianceOf(state, isMissing)} = ${values}`,
		};
	};
	const withTime =
		(toValues: (value: unknown, given: Record<string, unknown>) => string[]) =>
		(value: unknown, given: Record<string, unknown>) =>
			textArray([String(given.as_of ?? ""), ...toValues(value, given)]);
	return {
		check_state: {
			schema: z
				.union([
					z.enum(CHECK_STATES),
					z.array(z.enum(CHECK_STATES)).min(1).max(CHECK_STATES.length),
				])
				.describe("Of a required check, or of check"),
			sql: (p, value) => {
				const statuses = statusesOf(statesIn(value));
				if (!statuses) return matchesOne(stateIs(p, statesIn(value)));
				return among(`select c.device_id::text from (${checkStates({ at: at(p), statuses })}) c
					where ${isWanted(p, "c.state")} and ${ofCheck(p)("c.check_key")}`);
			},
			countSql: (p, value) => {
				const states = statesIn(value);
				if (statusesOf(states)) return undefined;
				const wanted = stateIs(p, states);
				return states.every((state) => state === "STALE")
					? `(${p}::text[])[2] is not null and ${isStaleAmongAll(wanted)}`
					: matchesAmongAll(wanted);
			},
			toParameter: withTime((value, { check }) => {
				const states = statesIn(value);
				if (states.includes(NONE) && check === undefined) {
					throw badFields([
						{
							field: "filter.check",
							message: `is required with check_state ${NONE}`,
						},
					]);
				}
				return [
					states.filter((state) => state !== NONE).join(","),
					...(check === undefined ? [] : checkKeysOf(String(check))),
				];
			}),
		},
		check: {
			schema: checkKeySchema().describe("Check of check_state"),
			sql: (p) => `${p}::text is not null`,
			toParameter: (value, { check_state }) => {
				if (check_state === undefined) {
					throw badFields([
						{ field: "filter.check_state", message: "is required with check" },
					]);
				}
				return value;
			},
			whyNone: (client, organizationId, value) =>
				whyNoCheck(client, organizationId, String(value)),
		},
		compliance: {
			schema: z
				.union([
					z.enum(COMPLIANCES),
					z.array(z.enum(COMPLIANCES)).min(1).max(COMPLIANCES.length),
				])
				.meta(obvious("One or several")),
			sql: (p, value) => {
				if (isNoncompliant(value)) {
					const failing = checkStates({ at: at(p), statuses: ["FAIL"] });
					return among(`select c.device_id::text from (${failing}) c
						where c.state = 'FAILING' and 'NONCOMPLIANT' = any((${p}::text[])[2:])`);
				}
				return matchesOne(complianceIs(p));
			},
			countSql: (p, value) =>
				isNoncompliant(value) ? undefined : matchesAmongAll(complianceIs(p)),
			toParameter: withTime((value) => [value].flat().map(String)),
		},
	};
}
