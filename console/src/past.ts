import { useMatches, useSearch } from "@tanstack/react-router";
import type { InputOf, OperationName } from "./api.ts";
import { kinds } from "./kinds.ts";
import { dayAfter, dayOf, lastMomentOf, todayHere } from "./parts/days.ts";

declare module "@tanstack/react-router" {
	interface StaticDataRouteOption {
		/**
		 * Set if the page can show its records as they were on a past day. The states of devices are
		 * known from the organization's beginning, and those of records often only from later on.
		 */
		showsPast?: "records" | "devices";
	}
}

/** The value of `as_of` in a link that goes back to the present. The address never has it. */
export const NOW = "now";

/** The operations that can answer for a moment in the past. */
const READS_PAST = new Set<string>([
	...kinds.flatMap(({ tool }) => [`list${tool.many}`, `get${tool.one}`]),
	"countRecords",
	"getCoverages",
	"getFrameworkCoverage",
	"getRecordHistory",
	"getRecordNames",
	"getRecordUses",
	"getRiskMatrix",
	"getDocumentVersion",
	"listDevices",
	"listDocumentVersions",
	"listDocumentVersionSignatures",
	"listLinkedRecords",
	"listPostureSummary",
	"searchRecords",
] satisfies (OperationName | (string & {}))[]);

/** The moment that the page shows, or undefined for the present. */
let moment: string | undefined;

/** Lets the queries of the page answer for the end of a day, or for the present. */
export function setPastDay(day: string | undefined): void {
	moment = day && lastMomentOf(day);
}

/** Returns the day that the page shows: a past one, or today. What was due before it is overdue. */
export function dayShown(): string {
	return moment ? dayOf(new Date(moment)) : todayHere();
}

/** Returns true if the page shows a past day. */
export function isPastShown(): boolean {
	return moment !== undefined;
}

/** Returns an operation's input with the moment that the page shows, if the operation has one. */
export function inPast<Name extends OperationName>(
	name: Name,
	input: InputOf<Name>,
): InputOf<Name> {
	return moment && READS_PAST.has(name) ? { as_of: moment, ...input } : input;
}

interface Beginning {
	created_at: string;
	records_known_since: string;
}

/**
 * Returns the first day whose end is known, of records or of anything. It may be today, so that no
 * past day is known yet.
 */
export function firstDayOf(
	{ created_at, records_known_since }: Beginning,
	of: "records" | "devices" = "devices",
): string {
	const records = dayOf(new Date(records_known_since));
	const organization = dayOf(new Date(created_at));
	return of === "records" || records < organization ? records : organization;
}

/** Returns the day in the address if it is a day before today. */
export function pastDay(text: string | undefined): string | undefined {
	if (!text || !/^[12]\d{3}-\d\d-\d\d$/.test(text)) return undefined;
	const isDay = !Number.isNaN(Date.parse(text)) && dayAfter(text, 0) === text;
	return isDay && text < todayHere() ? text : undefined;
}

/** Most characters of a wrong day that the page repeats. */
const MAX_REPEATED = 40;

/**
 * Returns the past day in the address, and whether and of what the page shows that day. Some pages
 * always show the present. `wrong` is what stands there instead of a day before today.
 */
export function usePast(): {
	day: string | undefined;
	wrong: string | undefined;
	isShown: boolean;
	shows: "records" | "devices" | undefined;
} {
	const { as_of }: { as_of?: unknown } = useSearch({ strict: false });
	const text = as_of === undefined ? "" : String(as_of);
	const day = pastDay(text);
	const isWrong = !day && !["", NOW, todayHere()].includes(text);
	const shows = useMatches({
		select: (all) =>
			all.find(({ staticData }) => staticData.showsPast)?.staticData.showsPast,
	});
	return {
		day,
		wrong: isWrong ? text.slice(0, MAX_REPEATED) : undefined,
		isShown: shows !== undefined,
		shows,
	};
}
