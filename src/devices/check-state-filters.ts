import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import type { Filter } from "../records/filter.ts";
import { obvious } from "../records/shown.ts";
import { checkKeysOf, whyNoCheck } from "./check-keys.ts";
import { CHECK_STATES, COMPLIANCES, checkStates } from "./check-states.ts";
import { checkKeySchema, statusAt } from "./device-record.ts";
import { fleetStates, PATTERN_OF_DEVICE } from "./fleet-states.ts";
import type { PostureStatus } from "./terms.ts";

/** The raw statuses that these states come from. An index finds the few spans that have them. */
const STATUSES_OF: Record<string, readonly PostureStatus[]> = {
	FAILING: ["FAIL"],
	IN_GRACE: ["FAIL"],
	EXCEPTED: ["FAIL", "UNKNOWN"],
	UNKNOWN: ["UNKNOWN"],
};

const among = (ids: string) => `t.id = any(array(${ids}))`;

/**
 * Returns the filters by states, for the present or for a time in the past. Each parameter begins
 * with the time, or with an empty text for the present.
 */
export function stateFilters(when: "now" | "as_of"): Record<string, Filter> {
	const at = (p: string) =>
		when === "now" ? undefined : `(${p}::text[])[1]::timestamptz`;
	const isActive = (p: string) => {
		const moment = at(p);
		return moment === undefined
			? "t.status = 'ACTIVE'"
			: `${statusAt(moment)} = 'ACTIVE'`;
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
				const ofCheck = `(
					cardinality(${p}::text[]) = 2 or c.check_key = any((${p}::text[])[3:])
				)`;
				const statuses = STATUSES_OF[String(state)];
				if (statuses) {
					return among(`select c.device_id::text from (${checkStates({ at: at(p), statuses })}) c
						where c.state = (${p}::text[])[2] and ${ofCheck}`);
				}
				const having = (comparison: string) =>
					among(`with ${fleetStates(at(p))} select f.id::text from ${PATTERN_OF_DEVICE}
						where p.n in (
							select c.n from required c
							where c.state ${comparison} (${p}::text[])[2] and ${ofCheck}
						)`);
				// A device is NOT_APPLICABLE for each check for which it has no other state.
				return state === "NOT_APPLICABLE"
					? `${isActive(p)} and not ${having("<>")}`
					: having("=");
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
				const wanted = [value].flat() as string[];
				const values = `(${p}::text[])[2:]`;
				if (wanted.length === 1 && wanted[0] === "NONCOMPLIANT") {
					const failing = checkStates({ at: at(p), statuses: ["FAIL"] });
					return among(`select c.device_id::text from (${failing}) c
						where c.state = 'FAILING' and '${wanted[0]}' = any(${values})`);
				}
				return among(`with ${fleetStates(at(p))} select f.id::text from ${PATTERN_OF_DEVICE}
					join judged j on j.n = p.n where j.compliance = any(${values})`);
			},
			toParameter: withTime((value) => [value].flat().map(String)),
		},
	};
}
