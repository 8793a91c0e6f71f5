import { useRef, useState } from "react";
import { ApiError, asSentence } from "../api.ts";
import { forgetReadings } from "../queries.ts";
import { sentenceOf } from "./error-state.tsx";

/** The number of requests in flight. More would keep other users waiting. */
const AT_ONCE = 4;

export interface Failure<Row> {
	row: Row;
	reason: string;
}

export interface Progress<Row> {
	done: number;
	total: number;
	failures: readonly Failure<Row>[];
	isRunning: boolean;
}

/**
 * Repeats a request for each of several rows and counts. A row whose request fails does not stop
 * the others: its failure is listed with the reason.
 */
export function useForEach<Row>() {
	const [progress, setProgress] = useState<Progress<Row> | null>(null);
	const isStopped = useRef(false);

	/** Resolves with the failures when all rows are done or the reader has stopped the work. */
	async function run(
		rows: readonly Row[],
		request: (row: Row) => Promise<unknown>,
	): Promise<readonly Failure<Row>[]> {
		isStopped.current = false;
		const waiting = [...rows];
		const failures: Failure<Row>[] = [];
		let done = 0;
		const show = (isRunning: boolean) =>
			setProgress({
				done,
				total: rows.length,
				failures: [...failures],
				isRunning,
			});
		show(true);
		async function work(): Promise<void> {
			for (;;) {
				const row = isStopped.current ? undefined : waiting.shift();
				if (row === undefined) return;
				try {
					await request(row);
				} catch (error) {
					failures.push({ row, reason: reasonOf(error) });
				}
				done++;
				show(true);
			}
		}
		await Promise.all(Array.from({ length: AT_ONCE }, work));
		await forgetReadings();
		show(false);
		return failures;
	}

	return {
		progress,
		run,
		stop: () => {
			isStopped.current = true;
		},
		reset: () => setProgress(null),
	};
}

/** Returns why a request failed, as a sentence. */
function reasonOf(error: unknown): string {
	const [first] = error instanceof ApiError ? error.fields : [];
	return first ? asSentence(first.message) : sentenceOf(error);
}
