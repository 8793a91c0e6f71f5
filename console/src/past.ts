import { useMatches, useSearch } from "@tanstack/react-router";
import type { InputOf, OperationName } from "./api.ts";
import { kinds } from "./kinds.ts";
import { dayAfter, endOfDay, todayHere } from "./parts/days.ts";

declare module "@tanstack/react-router" {
	interface StaticDataRouteOption {
		/** True if the page can show its records as they were on a past day. */
		showsPast?: true;
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
	"listDevices",
	"listLinkedRecords",
	"listPostureSummary",
	"searchRecords",
] satisfies (OperationName | (string & {}))[]);

/** The moment that the page shows, or undefined for the present. */
let moment: string | undefined;

/** Lets the queries of the page answer for the end of a day, or for the present. */
export function setPastDay(day: string | undefined): void {
	moment = day && endOfDay(day);
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

/** Returns the day in the address if it is a day before today. */
export function pastDay(text: string | undefined): string | undefined {
	if (!text || !/^[12]\d{3}-\d\d-\d\d$/.test(text)) return undefined;
	const isDay = !Number.isNaN(Date.parse(text)) && dayAfter(text, 0) === text;
	return isDay && text < todayHere() ? text : undefined;
}

/**
 * Returns the past day in the address, and whether the page shows that day. Some pages always show
 * the present.
 */
export function usePast(): { day: string | undefined; isShown: boolean } {
	const { as_of }: { as_of?: string } = useSearch({ strict: false });
	const isShown = useMatches({
		select: (all) => all.some(({ staticData }) => staticData.showsPast),
	});
	return { day: pastDay(as_of), isShown };
}
