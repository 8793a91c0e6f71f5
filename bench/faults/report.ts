import type { Ledger } from "../failover/writers.ts";
import { describeMachine, toTable } from "../report.ts";
import type { Found } from "../stored.ts";

/**
 * The result of one fault or event under load: the times, and what became of the acknowledged
 * writes.
 */
export interface Row extends Found {
	name: string;
	ledger: Ledger;
	/** Acknowledged writes per second before the event. */
	perSecond: number;
	/** Milliseconds of the longest time without a success of the probe. */
	unavailableMs: number;
	/**
	 * Milliseconds until 90 % of the earlier rate was reached. Undefined if it was not reached in
	 * time.
	 */
	recoveredMs: number | undefined;
	/** The number of times that a service ended unexpectedly. */
	crashes: number;
}

/**
 * Returns the promises that a row breaks, including those in `further`. The time until recovery is
 * judged only if the run judges times.
 */
export function brokenPromises(
	row: Row,
	isTimed: boolean,
	further: [isKept: boolean, text: string][] = [],
): string[] {
	const { surprise, statuses } = row.ledger;
	const promises: [isKept: boolean, text: string][] = [
		[row.lost === 0, `${row.lost} acknowledged writes are lost`],
		[row.duplicates === 0, `${row.duplicates} writes are stored twice`],
		[row.unlogged === 0, `${row.unlogged} tasks have not one audit entry`],
		[!statuses[401], "a valid key got 401"],
		[surprise === undefined, `an unexpected answer, ${surprise}`],
		[row.crashes === 0, `a service ended unexpectedly ${row.crashes} times`],
		[
			!isTimed || row.recoveredMs !== undefined,
			"90 % of the earlier rate was not reached",
		],
		...further,
	];
	return promises
		.filter(([isKept]) => !isKept)
		.map(([, text]) => `${row.name}: ${text}`);
}

export const seconds = (ms: number | undefined) =>
	ms === undefined ? "not seen" : (ms / 1_000).toFixed(1);

/**
 * Returns the rows as a Markdown table with the given columns, for a run with this version of
 * PostgreSQL. `note` says how the run differs from real use.
 */
export function toMarkdown<Kind extends Row>(
	rows: Kind[],
	own: { heading: string; cell: (row: Kind) => string },
	postgres: string,
	note: string,
): string {
	const table = toTable(
		[
			"What happens",
			"Writes/s before",
			"Acknowledged",
			"Lost",
			"Twice",
			"401",
			"Statuses",
			"Longest without a success, s",
			"To 90 % of the rate, s",
			own.heading,
			"Tasks of unknown fate (stored)",
		],
		rows.map((row) => [
			row.name,
			row.perSecond.toFixed(0),
			row.acknowledged,
			row.lost,
			row.duplicates,
			row.ledger.statuses[401] ?? 0,
			Object.entries(row.ledger.statuses)
				.map(([status, count]) => `${status}: ${count}`)
				.join(", "),
			seconds(row.unavailableMs),
			seconds(row.recoveredMs),
			own.cell(row),
			`${row.unknown} (${row.unknownStored})`,
		]),
	);
	return `${describeMachine(postgres)}; ${new Date().toISOString().slice(0, 10)}; ${note}\n\n${table}\n`;
}
