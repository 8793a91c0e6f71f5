import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { adviceByCode } from "../db/connection-advice.ts";
import { assertTakesWrites } from "../db/pool.ts";
import { toAppError } from "../errors.ts";

const LOOK_MS = 1_000;
const SUMMARY_MS = 60_000;

interface Outage {
	since: number;
	toldAt: number;
	refused: number;
	/**
	 * Number of errors by their code, which comes from PostgreSQL or the operating system. An error
	 * without a code is counted by its message.
	 */
	causes: Record<string, number>;
}

/**
 * Logs requests that failed because of an error of the service. Each failure usually gets a line.
 * While the database cannot be reached, that would be a line for every device of a fleet. An outage
 * therefore gets a line for the first failed request, then one line a minute with the count, and
 * one line when it is over.
 */
export class OutageLog {
	readonly #log: Logger;
	readonly #pool: Pool;
	#outage: Outage | undefined;
	#isClosed = false;

	/**
	 * `pool` is used to find out whether the database can be reached again. It must be a pool in
	 * which few requests wait.
	 */
	constructor(log: Logger, pool: Pool) {
		this.#log = log;
		this.#pool = pool;
	}

	/**
	 * Logs a failed request. Requests that the service turned away get no line, because the metrics
	 * count them (docs/operating.md).
	 */
	note(thrown: unknown, fields: object, message: string): void {
		const error = toAppError(thrown);
		if (error === thrown || error.status < 500) return;
		if (error.code !== "service_unavailable") {
			this.#log.error({ ...fields, err: thrown }, message);
			return;
		}
		if (!this.#outage) {
			const now = Date.now();
			this.#outage = { since: now, toldAt: now, refused: 0, causes: {} };
			const advice = adviceByCode(thrown);
			this.#log.error(
				{ ...fields, err: thrown, ...(advice && { advice }) },
				`${message}: the database does not answer as it should; until it does, failures are counted`,
			);
			void this.#watch(this.#outage);
		}
		const { code, message: text } = thrown as Error & { code?: string };
		const cause = code ?? text;
		this.#outage.refused++;
		this.#outage.causes[cause] = (this.#outage.causes[cause] ?? 0) + 1;
	}

	close(): void {
		this.#isClosed = true;
	}

	/**
	 * Waits until the outage is over: the database accepts writes, and no request has failed for a
	 * while.
	 */
	async #watch(outage: Outage): Promise<void> {
		for (;;) {
			const before = outage.refused;
			await sleep(LOOK_MS, undefined, { ref: false });
			if (this.#isClosed) return;
			const isBack = await assertTakesWrites(this.#pool).then(
				() => true,
				() => false,
			);
			const now = Date.now();
			const seconds = Math.round((now - outage.since) / 1000);
			const { refused, causes } = outage;
			if (isBack && refused === before) {
				this.#outage = undefined;
				this.#log.warn(
					{ seconds, refused, causes },
					`the database is back after ${seconds} s; requests turned away: ${refused}`,
				);
				return;
			}
			if (now - outage.toldAt < SUMMARY_MS) continue;
			outage.toldAt = now;
			this.#log.error(
				{ seconds, refused, causes },
				`the database has not answered properly for ${seconds} s; requests turned away so far: ${refused}`,
			);
		}
	}
}
