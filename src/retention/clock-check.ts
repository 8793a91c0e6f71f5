import { performance } from "node:perf_hooks";
import { DAY_MS, HOUR_MS } from "../units.ts";
import type { RetentionTimes } from "./last-retention.ts";

/**
 * Longest time by which the database's clock may be ahead of the last complete removal of old rows.
 * Removals are a day apart. This check does not notice a smaller error, and old rows are then
 * deleted too early.
 */
export const MAX_AHEAD_MS = 2 * DAY_MS;

/** Time for which a clock has to go on before it counts. Time synchronization corrects it sooner. */
const PROOF_MS = HOUR_MS;

export interface ClockState {
	/** False if nothing may be deleted by its age. */
	isTrusted: boolean;
	/** True if this is the first look that distrusts the clock as it goes now. */
	isNew: boolean;
	/** Time, in milliseconds, by which the clock is ahead of the last removal. */
	aheadMs: number;
	/** Time, in milliseconds, until the clock is trusted if it goes on like this. */
	waitMs: number;
}

/**
 * Decides whether the service may delete what is old by the database's clock. Nothing brings
 * deleted rows back. If the clock is far ahead of the last removal, it is wrong or the service was
 * off. Then it must keep pace for an hour with a clock of this process that nobody can set. A
 * restart begins the hour again.
 */
export class ClockCheck {
	readonly #monotonicMs: () => number;
	/** The first look since which both clocks have gone in step. */
	#first?: { nowMs: number; monotonicMs: number };
	#isReported = false;

	constructor(monotonicMs = () => performance.now()) {
		this.#monotonicMs = monotonicMs;
	}

	look({ nowMs, lastMs }: RetentionTimes): ClockState {
		const monotonicMs = this.#monotonicMs();
		const aheadMs = nowMs - lastMs;
		const first = this.#first;
		const isInStep =
			first !== undefined &&
			Math.abs(nowMs - first.nowMs - (monotonicMs - first.monotonicMs)) <=
				MAX_AHEAD_MS;
		if (!isInStep) {
			this.#first = { nowMs, monotonicMs };
			this.#isReported = false;
		}
		const provenMs = isInStep ? monotonicMs - first.monotonicMs : 0;
		const waitMs =
			aheadMs > MAX_AHEAD_MS ? Math.max(PROOF_MS - provenMs, 0) : 0;
		const isTrusted = waitMs === 0;
		const isNew = !isTrusted && !this.#isReported;
		if (isNew) this.#isReported = true;
		return { isTrusted, isNew, aheadMs, waitMs };
	}
}
