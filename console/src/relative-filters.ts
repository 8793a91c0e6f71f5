import { dayAfter, lastDays, todayHere } from "./parts/days.ts";

/**
 * The value of a filter in the address of a list, or several values. A record needs one of them.
 */
export type FilterValue = string | number | boolean | null | string[];

/** The value of `due`, or of another date, that selects everything whose date has passed. */
export const OVERDUE = "overdue";

const DAYS = /^(\d{1,4})d$/;
const LAST = /^(\w+)_last$/;
/** The names of filters by a day: the due date, and the dates of reviews and expiries. */
const BY_DAY = /^(?:due|(?:valid|accepted)_until|\w+_(?:date|on))$/;

/** Returns the value of a relative filter, such as "7d". */
export const inDays = (days: number) => `${days}d`;

/**
 * Replaces relative filters by the dates that they mean today, because a bookmark must be right
 * tomorrow as well. `due=overdue` and `due=7d` select by the due date, the first one only open work;
 * `next_review_date=7d` selects by another date, and `<name>_last=7d` by the time of an event.
 */
export function toDates(
	filters: Record<string, FilterValue>,
	today = todayHere(),
): Record<string, FilterValue> {
	return Object.fromEntries(
		Object.entries(filters).flatMap<[string, FilterValue]>(([name, value]) => {
			const days = Number(DAYS.exec(String(value))?.[1] ?? Number.NaN);
			const isDay = BY_DAY.test(name);
			if (isDay && value === OVERDUE) {
				const passed: [string, FilterValue] = [
					`${name}_until`,
					dayAfter(today, -1),
				];
				// Work that is done is not overdue.
				const isWork = name === "due" && filters.is_open === undefined;
				return isWork ? [passed, ["is_open", true]] : [passed];
			}
			if (isDay && days >= 0) {
				return [
					[`${name}_from`, today],
					[`${name}_until`, dayAfter(today, days)],
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
