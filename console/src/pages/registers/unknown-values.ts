import type { DateOrder } from "../../../../src/csv/dates.ts";
import type { OutputOf } from "../../api.ts";

type Plan = OutputOf<"importRecords">;
type Line = Plan["lines"][number];

/** The meaning of a value whose lines are not imported. */
export const SKIP = "SKIP";

/** The meanings of unknown values, by field and value: a choice, null for empty, or SKIP. */
export type Meanings = Readonly<
	Record<string, Readonly<Record<string, string | null>>>
>;

/** The order of day and month in the dates of a field. */
export type DateOrders = Readonly<Record<string, DateOrder>>;

/**
 * Returns the lines that wait only for an answer of the reader, and the plan without these lines.
 */
export function withoutWaiting(plan: Plan): { waiting: number; plan: Plan } {
	const lines = plan.lines.filter((line) => !isWaiting(line));
	const waiting = plan.lines.length - lines.length;
	return { waiting, plan: { ...plan, lines, wrong: plan.wrong - waiting } };
}

function isWaiting({ outcome, issues }: Line): boolean {
	return (
		outcome === "WRONG" &&
		issues.length > 0 &&
		issues.every(
			({ unknown_value, waits_for_order }) =>
				unknown_value !== null || waits_for_order,
		)
	);
}
