import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { assertTakesConnections } from "../db/pool.ts";

/** Longest time that the metrics wait for a database that does not answer. */
const ANSWER_MS = 3_000;

/**
 * What the metrics read from the database. While it does not answer, nothing is read, so that it
 * does not hold up the other metrics. What cannot be read has no value, and a metric says so: a
 * missing value would otherwise look like one that is in order.
 */
export class DatabaseReads {
	readonly #pool: Pool;
	readonly #log: Logger;
	readonly #failing = new Set<string>();
	#answers = Promise.resolve(false);
	/** Whether each part was read, since the metrics were last asked for. */
	#read = new Map<string, Promise<boolean>>();

	/**
	 * Adds the metric of whether the database answers. It comes before those of the parts, because
	 * the metrics are collected in the order in which they were added. `healthPool` says how to connect
	 * to the database.
	 */
	constructor(
		pool: Pool,
		healthPool: Pool,
		log: Logger,
		registers: Registry[],
	) {
		this.#pool = pool;
		this.#log = log;
		const begin = () => {
			this.#read = new Map();
			this.#answers = answersInTime(healthPool);
			return this.#answers;
		};
		new Gauge({
			name: "assay_database_answers",
			help: `1 if the database took a new connection for this request for metrics and is neither a standby nor read-only, 0 if it did not within ${ANSWER_MS / 1000} s.`,
			aggregator: "min",
			registers,
			async collect() {
				this.set((await begin()) ? 1 : 0);
			},
		});
	}

	/** Reads a part of the metrics. Resolves with undefined if that is not possible. */
	async read<Result>(
		of: string,
		work: (pool: Pool) => Promise<Result>,
	): Promise<Result | undefined> {
		const found = this.#answers.then((answers) =>
			answers ? work(this.#pool) : undefined,
		);
		this.#read.set(
			of,
			found.then(
				() => this.#note(of),
				(error) => this.#note(of, error),
			),
		);
		return found.catch(() => undefined);
	}

	/** Notes whether a part was read. The log gets one line when that changes. */
	#note(of: string, error?: unknown): boolean {
		if (error === undefined) {
			if (this.#failing.delete(of)) {
				this.#log.info({ of }, "a part of the metrics can be read again");
			}
			return true;
		}
		if (!this.#failing.has(of)) {
			this.#failing.add(of);
			this.#log.error(
				{ of, err: error },
				"a part of the metrics cannot be read",
			);
		}
		return false;
	}

	/** Adds the metric of the parts that could not be read. It comes after those of the parts. */
	addUnread(registers: Registry[]): void {
		const parts = async () => {
			const read = [...this.#read];
			return (await this.#answers) ? read : [];
		};
		new Gauge({
			name: "assay_metrics_unread",
			help: "1 if a part of the metrics could not be read although the database answered, otherwise 0.",
			labelNames: ["of"],
			aggregator: "max",
			registers,
			async collect() {
				const read = await parts();
				this.reset();
				for (const [of, isRead] of read)
					this.set({ of }, (await isRead) ? 0 : 1);
			},
		});
	}
}

async function answersInTime(pool: Pool): Promise<boolean> {
	const waiting = new AbortController();
	const answer = assertTakesConnections(pool).then(
		() => true,
		() => false,
	);
	const limit = sleep(ANSWER_MS, false, { signal: waiting.signal, ref: false });
	try {
		return await Promise.race([answer, limit]);
	} finally {
		waiting.abort();
		limit.catch(() => {});
	}
}
