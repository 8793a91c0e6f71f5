import type { FilterValue } from "./list-search.ts";
import { dayAfter, lastDays, todayHere } from "./parts/days.ts";

/** The value of `due` that selects everything whose date has passed. */
export const OVERDUE = "overdue";

const DAYS = /^(\d{1,4})d$/;
const LAST = /^(\w+)_last$/;

/** Returns the value of a relative filter, such as "7d". */
export const inDays = (days: number) => `${days}d`;

/**
 * Replaces relative filters by the dates that they mean today, because a bookmark must be right
 * tomorrow as well. `due=overdue` and `due=7d` select by the due date, and `<name>_last=7d` selects
 * by the time of an event.
 */
export function toDates(
	filters: Record<string, FilterValue>,
	today = todayHere(),
): Record<string, FilterValue> {
	return Object.fromEntries(
		Object.entries(filters).flatMap<[string, FilterValue]>(([name, value]) => {
			const days = Number(DAYS.exec(String(value))?.[1] ?? Number.NaN);
			if (name === "due" && value === OVERDUE) {
				return [["due_until", dayAfter(today, -1)]];
			}
			if (name === "due" && days >= 0) {
				return [
					["due_from", today],
					["due_until", dayAfter(today, days)],
				];
			}
			const event = LAST.exec(name)?.[1];
			if (event && days >= 0) {
				const [from, until] = lastDays(days, today);
				return [
					[`${event}_from`, from],
					[`${event}_until`, until],
				];
			}
			return [[name, value]];
		}),
	);
}
