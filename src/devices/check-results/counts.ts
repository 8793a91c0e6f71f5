import { z } from "zod";
import { CHECK_STATES, type CheckState } from "../check-states.ts";
import { stateCounts } from "../count-states.ts";
import { checkName } from "../device-record.ts";
import { type CountsByState, JUDGED, passPercent } from "../pass-rate.ts";

/** The stored numbers of one count, by the key of the check. */
export type CheckCounts = Record<string, CountsByState>;

/** The number of devices by state, and what follows from it. */
const resultShape = {
	required_devices: z
		.int()
		.describe("ACTIVE devices that the policy requires to pass it"),
	pass_percent: z
		.number()
		.nullable()
		.describe(
			"Share of PASSING in required devices without EXCEPTED ones, 0 to 100; null: there are none",
		),
	states: stateCounts(),
};

/** The result of a check over the fleet. */
export const checkResult = z.object({
	check_key: z.string(),
	check_name: z.string().nullable(),
	...resultShape,
});
export type CheckResult = z.output<typeof checkResult>;

/** Returns the result of a check from its stored numbers. */
export function resultOf(key: string, counts: CheckCounts): CheckResult {
	const states = Object.fromEntries(
		CHECK_STATES.map((state) => [state, counts[key]?.[state] ?? 0]),
	) as Record<CheckState, number>;
	const devices = JUDGED.reduce((sum, state) => sum + states[state], 0);
	return {
		check_key: key,
		check_name: checkName(key),
		required_devices: devices + states.EXCEPTED,
		pass_percent: passPercent([states]),
		states,
	};
}
