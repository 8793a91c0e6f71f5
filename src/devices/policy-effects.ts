import { z } from "zod";
import {
	complianceCounts,
	type FleetCounts,
	stateCounts,
} from "./count-states.ts";
import { checkName } from "./device-record.ts";

/** How a change of a policy moves devices from one state to another. */
export const effects = z.object({
	compliance: z.object({
		before: complianceCounts(),
		after: complianceCounts(),
	}),
	checks: z.array(
		z.object({
			check_key: z.string(),
			check_name: z.string().nullable(),
			before: stateCounts(),
			after: stateCounts(),
		}),
	),
});

/** Compares the fleet before and after a change. Lists the checks whose numbers change. */
export function compareFleets(
	checkKeys: readonly string[],
	before: FleetCounts,
	after: FleetCounts,
): z.input<typeof effects> {
	return {
		compliance: { before: before.compliance, after: after.compliance },
		checks: checkKeys
			.map((key) => ({
				check_key: key,
				check_name: checkName(key),
				before: before.ofCheck(key),
				after: after.ofCheck(key),
			}))
			.filter(
				(check) => JSON.stringify(check.before) !== JSON.stringify(check.after),
			),
	};
}
