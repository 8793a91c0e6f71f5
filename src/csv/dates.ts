/** Orders of day and month in a date such as 03/04/2026: day first, month first. */
export const DATE_ORDERS = ["DMY", "MDY"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** Longest text that may be a date, in characters. */
const MAX_DATE = 40;

const MONTHS = [
	...["january", "february", "march", "april", "may", "june"],
	...["july", "august", "september", "october", "november", "december"],
];

/** Midnight after a date, as spreadsheets and databases write it. */
const MIDNIGHT =
	/(?:T| |, )(?:0?0:00(?::00(?:\.0{1,9})?)?Z?|12:00(?::00)?\s?AM)$/i;

/** 2026-12-31, 2026/12/31 and "2026. 12. 31." */
const YEAR_FIRST = /^(\d{4})(?:-|\/|\. ?)(\d{1,2})(?:-|\/|\. ?)(\d{1,2})\.?$/;
/** 31.12.2026 and "31. 12. 2026". With dots, every country writes the day first. */
const DOTTED = /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})\.?$/;
/** 31/12/2026 and 12/31/2026, also with dashes. */
const SLASHED = /^(\d{1,2})(?:\/(\d{1,2})\/|-(\d{1,2})-)(\d{4})$/;
/** "31 Dec 2026" and 31-Dec-2026. */
const DAY_MONTH = /^(\d{1,2})[ -]([a-z]{3,9})\.?,?[ -](\d{4})$/i;
/** "Dec 31, 2026" */
const MONTH_DAY = /^([a-z]{3,9})\.? (\d{1,2}),? (\d{4})$/i;

/**
 * Returns the day that a cell names, as YYYY-MM-DD, in any form that a spreadsheet writes. Returns
 * undefined if the cell names none. Without an `order`, this includes a date such as 03/04/2026 that
 * is another day in the other order.
 */
export function readDay(
	text: string,
	order: DateOrder | null,
): string | undefined {
	if (text.length > MAX_DATE) return undefined;
	const date = text.trim().replace(MIDNIGHT, "");
	const slashed = SLASHED.exec(date);
	if (slashed) {
		const [, first, slash, dash, year] = slashed;
		const second = slash ?? dash;
		const days = {
			DMY: dayFrom(year, second, first),
			MDY: dayFrom(year, first, second),
		};
		if (order) return days[order];
		return days.DMY === days.MDY ? days.DMY : undefined;
	}
	const [, year, month, day] = YEAR_FIRST.exec(date) ?? [];
	if (year) return dayFrom(year, month, day);
	const dotted = DOTTED.exec(date);
	if (dotted) return dayFrom(dotted[3], dotted[2], dotted[1]);
	const named = DAY_MONTH.exec(date);
	if (named) return dayFrom(named[3], monthOf(named[2]), named[1]);
	const american = MONTH_DAY.exec(date);
	if (american) {
		return dayFrom(american[3], monthOf(american[1]), american[2]);
	}
	return undefined;
}

/** Returns the number of a month by its English name, or by the beginning of the name. */
function monthOf(name = ""): string {
	const at = MONTHS.findIndex((month) => month.startsWith(name.toLowerCase()));
	return String(at + 1);
}

/** Returns a date as YYYY-MM-DD, or undefined if the calendar does not have it. */
function dayFrom(year = "", month = "", day = ""): string | undefined {
	const text = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
	const time = new Date(`${text}T00:00:00Z`);
	return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text)
		? text
		: undefined;
}
