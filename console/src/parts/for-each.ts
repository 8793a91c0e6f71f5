import { useRef, useState } from "react";
import { ApiError, asSentence } from "../api.ts";
import { forgetReadings } from "../queries.ts";
import { sentenceOf } from "./error-state.tsx";

/** The number of requests in flight. More would keep other users waiting. */
const AT_ONCE = 4;

/** The reason of a row that was changed after the reader had loaded it. */
const CHANGED = "It has changed in the meantime.";

/** A run halves this many rejected parts at most, to find the rows that are the cause. */
const MAX_HALVED = 20;

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

export interface Outcome<Row> {
	/** The rows whose requests succeeded. Without failures, the others were not tried. */
	succeeded: readonly Row[];
	failures: readonly Failure<Row>[];
}

/** A request for some rows. It must change all of them or none. */
export type PartRequest<Row> = (rows: readonly Row[]) => Promise<unknown>;

/**
 * Repeats a request for each of several rows, or for each part of many rows. Rows whose request
 * fails do not stop the others: the failure is listed with the reason. Resolves when all rows are
 * done or `isStopped` returns true.
 *
 * Parts of several rows are sent one after the other. If the server rejects such a part and names
 * the rows that are wrong, the others are sent again. If it names none, each half is tried, and so
 * on. The other rows thus do not fail with the one that is wrong.
 */
export async function forEach<Row>(
	rows: readonly Row[],
	request: PartRequest<Row>,
	{
		partSize = 1,
		show = () => {},
		isStopped = () => false,
	}: {
		partSize?: number;
		show?: (progress: Progress<Row>) => void;
		isStopped?: () => boolean;
	} = {},
): Promise<Outcome<Row>> {
	const waiting: Row[][] = [];
	for (let from = 0; from < rows.length; from += partSize) {
		waiting.push(rows.slice(from, from + partSize));
	}
	const succeeded: Row[] = [];
	const failures: Failure<Row>[] = [];
	let halved = 0;
	const showProgress = (isRunning: boolean) =>
		show({
			done: succeeded.length + failures.length,
			total: rows.length,
			failures: [...failures],
			isRunning,
		});
	showProgress(true);
	async function attempt(part: Row[]): Promise<void> {
		try {
			await request(part);
			succeeded.push(...part);
		} catch (error) {
			const reasons =
				part.length > 1 ? reasonsByRow(error) : new Map<number, string>();
			const rest = part.filter((_, index) => !reasons.has(index));
			if (rest.length < part.length) {
				part.forEach((row, index) => {
					const reason = reasons.get(index);
					if (reason) failures.push({ row, reason });
				});
				if (rest.length > 0) waiting.unshift(rest);
				return;
			}
			if (part.length > 1 && isRejected(error) && halved < MAX_HALVED) {
				halved++;
				const middle = part.length >> 1;
				waiting.unshift(part.slice(0, middle), part.slice(middle));
				return;
			}
			const reason = reasonOf(error);
			failures.push(...part.map((row) => ({ row, reason })));
		}
	}
	async function work(): Promise<void> {
		for (;;) {
			const part = isStopped() ? undefined : waiting.shift();
			if (part === undefined) return;
			await attempt(part);
			showProgress(true);
		}
	}
	const workers = partSize === 1 ? AT_ONCE : 1;
	await Promise.all(Array.from({ length: workers }, work));
	await forgetReadings();
	showProgress(false);
	return { succeeded, failures };
}

/** Runs `forEach`, shows how far it is, and lets the reader stop it. */
export function useForEach<Row>() {
	const [progress, setProgress] = useState<Progress<Row> | null>(null);
	const isStopped = useRef(false);
	return {
		progress,
		run: (
			rows: readonly Row[],
			request: PartRequest<Row>,
			partSize = 1,
		): Promise<Outcome<Row>> => {
			isStopped.current = false;
			return forEach(rows, request, {
				partSize,
				show: setProgress,
				isStopped: () => isStopped.current,
			});
		},
		stop: () => {
			isStopped.current = true;
		},
		reset: () => setProgress(null),
	};
}

/** True if the same request would fail again, because something in it is wrong. */
const isRejected = (error: unknown) =>
	error instanceof ApiError && error.status === 400;

/**
 * Returns why rows were rejected, by their places in the request. The server names a row as the
 * field `devices[3]` or `devices[3].predecessor_id`.
 */
function reasonsByRow(error: unknown): Map<number, string> {
	if (!isRejected(error)) return new Map();
	return new Map(
		(error as ApiError).fields.flatMap(({ field, message }) => {
			const place = /^\w+\[(\d+)\]/.exec(field)?.[1];
			return place ? [[Number(place), asSentence(message)]] : [];
		}),
	);
}

/** Returns why a request failed, as a sentence. */
function reasonOf(error: unknown): string {
	const [first] = error instanceof ApiError ? error.fields : [];
	if (first?.field === "if_updated_at") return CHANGED;
	return first ? asSentence(first.message) : sentenceOf(error);
}
