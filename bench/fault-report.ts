import type { Row } from "./fault-run.ts";
import { describeMachine, toTable } from "./report.ts";
import { BACKOFF_SPEED } from "./writers.ts";

/** What a row says that must not be. How fast it recovered counts only where times are judged. */
export function brokenPromises(row: Row, isTimed: boolean): string[] {
	const broken: string[] = [];
	const must = (isKept: boolean, text: string) => {
		if (!isKept) broken.push(`${row.name}: ${text}`);
	};
	must(row.lost === 0, `${row.lost} acknowledged writes are lost`);
	must(row.duplicates === 0, `${row.duplicates} writes are stored twice`);
	must(row.unlogged === 0, `${row.unlogged} tasks have not one audit entry`);
	must(!row.ledger.statuses[401], "a valid key got 401");
	const { surprise } = row.ledger;
	must(surprise === undefined, `an unexpected answer, ${surprise}`);
	must(row.crashes === 0, `the service ended by itself ${row.crashes} times`);
	must(row.isBack, "nothing was acknowledged after the mending");
	must(
		!isTimed || row.recoveredMs !== undefined,
		"90 % of the earlier rate was not reached",
	);
	return broken;
}

const seconds = (ms: number | undefined) =>
	ms === undefined ? "not seen" : (ms / 1_000).toFixed(1);

export function toMarkdown(rows: Row[], postgres: string): string {
	const table = toTable(
		[
			"Fault",
			"Writes/s before",
			"Acknowledged",
			"Lost",
			"Twice",
			"401",
			"Statuses",
			"Longest without an answer, s",
			"To 90 % of the rate, s",
			"Peak MiB",
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
			row.peakMib.toFixed(0),
			`${row.unknown} (${row.unknownStored})`,
		]),
	);
	return `${describeMachine(postgres)}; ${new Date().toISOString().slice(0, 10)}; agents back off ${BACKOFF_SPEED} times faster than in the field\n\n${table}\n`;
}
