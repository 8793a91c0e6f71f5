import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import type { Filter } from "../records/filter.ts";
import { obvious } from "../records/shown.ts";
import { checkKeysOf, whyNoCheck } from "./check-keys.ts";
import {
	CHECK_STATES,
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
const STATUSES_OF: Record<string, readonly PostureStatus[]> = {
	FAILING: ["FAIL"],
	IN_GRACE: ["FAIL"],
	EXCEPTED: ["FAIL", "UNKNOWN"],
	UNKNOWN: ["UNKNOWN"],
};

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
	/** Limits the states to the check, if the caller gives one. */
	const ofCheck = (p: string) => (key: string) =>
		`(cardinality(${p}::text[]) = 2 or ${key} = any((${p}::text[])[3:]))`;
	const stateIs = (p: string, state: string): Wanted => {
		const wanted = `(${p}::text[])[2]`;
		const shared = { at: at(p), check: ofCheck(p) };
		// A device is NOT_APPLICABLE for a check for which it has no other state.
		if (state === "NOT_APPLICABLE") {
			return {
				...shared,
				one: (states) =>
					`select not exists (select from (${states}) c where c.state <> ${wanted})`,
				group: (state, isMissing) =>
					`not (${isMissing} or coalesce(bool_or(s.check_key is not null and ${state} <> ${wanted}), false))`,
			};
		}
		const isMissingWanted = state === "NOT_REPORTED";
		return {
			...shared,
			one: (states) =>
				`select exists (select from (${states}) c where c.state = ${wanted})`,
			group: (state, isMissing) =>
				isMissingWanted
					? `${isMissing} and ${wanted} is not null`
					: `bool_or(s.check_key is not null and ${state} = ${wanted})`,
		};
	};
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
				.enum(CHECK_STATES)
				.describe("With a required check in this state; with check, this one"),
			sql: (p, state) => {
				const statuses = STATUSES_OF[String(state)];
				if (!statuses) return matchesOne(stateIs(p, String(state)));
				return among(`select c.device_id::text from (${checkStates({ at: at(p), statuses })}) c
					where c.state = (${p}::text[])[2] and ${ofCheck(p)("c.check_key")}`);
			},
			countSql: (p, state) => {
				if (STATUSES_OF[String(state)]) return undefined;
				const wanted = stateIs(p, String(state));
				return state === "STALE"
					? `(${p}::text[])[2] is not null and ${isStaleAmongAll(wanted)}`
					: matchesAmongAll(wanted);
			},
			toParameter: withTime((state, { check }) => {
				if (state === "NOT_APPLICABLE" && check === undefined) {
					throw badFields([
						{
							field: "filter.check",
							message: "is required with check_state NOT_APPLICABLE",
						},
					]);
				}
				return [
					String(state),
					...(check === undefined ? [] : checkKeysOf(String(check))),
				];
			}),
		},
		check: {
			schema: checkKeySchema().describe("Check that check_state is about"),
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
