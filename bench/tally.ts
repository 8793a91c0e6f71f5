import { Histogram } from "./histogram.ts";
import { EXPECTED_STATUS, type Kind } from "./requests.ts";

export interface KindResult {
	kind: Kind;
	/** Answered as expected. */
	requests: number;
	/** Answered as expected within the measurement's time. Answers of an open loop may come later. */
	perSecond: number;
	/** Answers of another status, requests without an answer. */
	errors: number;
	/** How many answers had each status; 0 is no answer. */
	statuses: Record<string, number>;
	/** The first answer that was not expected. */
	firstError: string | undefined;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
}

interface KindTally {
	latencies: Histogram;
	/** Expected answers between begin and end, whenever they were due. */
	inTime: number;
	statuses: Record<string, number>;
	firstError: string | undefined;
}

/** Counts one load's answers from `begin` on. */
export class Tally {
	readonly #isOpen: boolean;
	readonly #kinds = new Map<Kind, KindTally>();
	#beganAt = 0;
	#endedAt = Infinity;
	#cpu = process.cpuUsage();

	/**
	 * A closed loop counts requests that are answered in its time, an open loop those that are due in
	 * it.
	 */
	constructor(isOpen: boolean) {
		this.#isOpen = isOpen;
	}

	begin(): void {
		this.#kinds.clear();
		this.#beganAt = performance.now();
		this.#cpu = process.cpuUsage();
	}

	/** `at` is when it was sent, or due. */
	answered(kind: Kind, at: number, status: number, text: string): void {
		const now = performance.now();
		const tally = this.#of(kind);
		const isInTime = now <= this.#endedAt;
		const isExpected = status === EXPECTED_STATUS[kind];
		if (isInTime && isExpected) tally.inTime++;
		if (this.#isOpen ? at < this.#beganAt : !isInTime) return;
		tally.latencies.recordMs(now - at);
		tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
		if (!isExpected) tally.firstError ??= text;
	}

	end(): { seconds: number; cpuSeconds: number } {
		const now = performance.now();
		this.#endedAt = now;
		const { user, system } = process.cpuUsage(this.#cpu);
		return {
			seconds: (now - this.#beganAt) / 1000,
			cpuSeconds: (user + system) / 1e6,
		};
	}

	/** Returns the counts of a measurement of that length. */
	results(seconds: number): KindResult[] {
		return [...this.#kinds].map(([kind, { latencies, inTime, ...tally }]) => {
			const requests = tally.statuses[EXPECTED_STATUS[kind]] ?? 0;
			return {
				kind,
				requests,
				perSecond: inTime / seconds,
				errors: latencies.total - requests,
				...tally,
				p50Ms: latencies.quantileMs(0.5),
				p99Ms: latencies.quantileMs(0.99),
				maxMs: latencies.maxMs,
			};
		});
	}

	#of(kind: Kind): KindTally {
		let tally = this.#kinds.get(kind);
		if (!tally) {
			tally = {
				latencies: new Histogram(),
				inTime: 0,
				statuses: {},
				firstError: undefined,
			};
			this.#kinds.set(kind, tally);
		}
		return tally;
	}
}
