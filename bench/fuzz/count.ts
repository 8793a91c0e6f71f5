import { toTable } from "../report.ts";

/**
 * The number of cases with one name, and of their answers by status. "none" stands for a socket
 * that was closed or stayed silent.
 */
export interface Counted {
	cases: number;
	statuses: Record<string, number>;
}

export type ByName = Record<string, Counted>;

/**
 * Counts one more case with this name. If the case was bytes on a socket, it may have several
 * answers.
 */
export function count(all: ByName, name: string, statuses: string[]): void {
	all[name] ??= { cases: 0, statuses: {} };
	const counted = all[name];
	counted.cases++;
	for (const status of statuses) {
		counted.statuses[status] = (counted.statuses[status] ?? 0) + 1;
	}
}

const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"];

/**
 * Returns a table with a row for each name. The columns are the number of cases and of answers in
 * each class of statuses.
 */
export function toClassTable(title: string, all: ByName): string {
	const rows = Object.entries(all).map(([name, { cases, statuses }]) => {
		const of = (wanted: string) =>
			Object.entries(statuses)
				.filter(
					([status]) =>
						(status === "none" ? "none" : `${status[0]}xx`) === wanted,
				)
				.reduce((sum, [, count]) => sum + count, 0);
		return [name, cases, ...CLASSES.map(of)];
	});
	const shown = rows.sort((a, b) => String(a[0]).localeCompare(String(b[0])));
	return toTable([title, "Cases", ...CLASSES], shown);
}
