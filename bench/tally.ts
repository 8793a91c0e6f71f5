import { Histogram } from "./histogram.ts";
import { EXPECTED_STATUS, type Kind } from "./requests.ts";

export interface KindResult {
	kind: Kind;
	/** The number of requests that were answered as expected. */
	requests: number;
	/**
	 * The expected answers per second during the measurement. In an open loop, some answers may come
	 * after its end and are not counted here.
	 */
	perSecond: number;
	/** The number of answers with an unexpected status and of requests without an answer. */
	errors: number;
	/** The number of answers with each status. 0 stands for a request without an answer. */
	statuses: Record<string, number>;
	/** The first answer that was not as expected. */
	firstError: string | undefined;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
}

interface KindTally {
	latencies: Histogram;
	/**
	 * The number of expected answers between the begin and the end, no matter when their requests
	 * were due.
	 */
	inTime: number;
	statuses: Record<string, number>;
	firstError: string | undefined;
}

/** Counts the answers of one load, beginning at `begin`. */
export class Tally {
	readonly #isOpen: boolean;
	readonly #kinds = new Map<Kind, KindTally>();
	#beganAt = 0;
	#endedAt = Infinity;
	#cpu = process.cpuUsage();

	/**
	 * In a closed loop, counts the requests that are answered during the measurement. In an open
	 * loop, counts those that are due during it.
	 */
	constructor(isOpen: boolean) {
		this.#isOpen = isOpen;
	}

	begin(): void {
		this.#kinds.clear();
		this.#beganAt = performance.now();
		this.#cpu = process.cpuUsage();
	}

	/**
	 * Counts an answer. `at` is the time at which the request was sent or, in an open loop, was due.
	 */
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

	/** Returns the counts of a measurement that took `seconds`. */
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
