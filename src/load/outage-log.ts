import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import {
	ASK_DOCTOR,
	adviceByCode,
	embeddedAdvice,
} from "../db/connection-advice.ts";
import { assertHasRoom, assertTakesConnections } from "../db/pool.ts";
import { codeOf, DISK_FULL } from "../db/sqlstate.ts";
import { isConnectionTrouble, plainReason, toAppError } from "../errors.ts";

const LOOK_MS = 1_000;
/** An outage of hours is not repeated more often. */
const SUMMARY_MS = 600_000;

interface Outage {
	since: number;
	toldAt: number;
	/** Requests that were turned away. */
	refused: number;
	/** Failures of requests and of background work. */
	failures: number;
	/** True if the disk of the database was full at any time. */
	isFull: boolean;
	/**
	 * Number of errors by their code, which comes from PostgreSQL or the operating system. An error
	 * without a code is counted by its message.
	 */
	causes: Record<string, number>;
}

/**
 * Logs failures that are no fault of the request. Each one usually gets a line. While the database
 * cannot be reached, that would be a line for every device of a fleet and for all background work.
 * An outage therefore gets one line when it begins, one when it is over, and one every ten minutes
 * in between. The line has no stack, because the place in the code says nothing about the cause.
 */
export class OutageLog {
	readonly #log: Logger;
	readonly #pool: Pool;
	readonly #isEmbedded: boolean;
	#outage: Outage | undefined;
	#isClosed = false;

	/**
	 * `pool` is used to find out whether the database can be reached again. It must be a pool in
	 * which few requests wait. An embedded server (`isEmbedded`) is started again by the service.
	 */
	constructor(log: Logger, pool: Pool, isEmbedded = false) {
		this.#log = log;
		this.#pool = pool;
		this.#isEmbedded = isEmbedded;
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
		this.#count(thrown, fields, message).refused++;
	}

	/**
	 * Returns the log for background work. It writes to the same place, but leaves warnings and errors
	 * about a database that cannot be reached to the outage.
	 */
	forBackgroundWork(): Logger {
		const log = this.#log;
		// Other levels, and a level that changes later, are those of the log itself.
		const quiet = Object.create(log) as Logger;
		for (const level of ["warn", "error"] as const) {
			quiet[level] = (...line: Parameters<Logger["warn"]>) => {
				const [fields, message] = line as [unknown, string?];
				if (
					this.#isClosed ||
					!isObject(fields) ||
					!isConnectionTrouble(fields.err)
				) {
					log[level](...line);
					return;
				}
				const { err, ...others } = fields;
				this.#count(err, others, message ?? "background work failed");
			};
		}
		return quiet;
	}

	close(): void {
		this.#isClosed = true;
	}

	/** Counts a failure. The first one begins an outage and is logged. */
	#count(thrown: unknown, fields: object, message: string): Outage {
		const code = codeOf(thrown);
		const reason = plainReason((thrown as Error).message);
		const isFull = code === DISK_FULL;
		const outage = this.#outage ?? this.#begin();
		if (!this.#outage) {
			this.#outage = outage;
			const advice = this.#advise(thrown);
			this.#log.error(
				{
					...fields,
					...(isConnectionTrouble(thrown) ? { code, reason } : { err: thrown }),
					...(advice && { advice }),
				},
				`${message}: ${isFull ? "the disk of the database is full" : "the database does not answer as it should"}; until that ends, failures are counted`,
			);
			void this.#watch(outage);
		}
		const cause = code ?? reason;
		outage.failures++;
		outage.isFull ||= isFull;
		outage.causes[cause] = (outage.causes[cause] ?? 0) + 1;
		return outage;
	}

	#advise(thrown: unknown): string | undefined {
		if (!isConnectionTrouble(thrown)) return undefined;
		if (!this.#isEmbedded) return adviceByCode(thrown) ?? ASK_DOCTOR;
		return codeOf(thrown)?.startsWith("E")
			? "the service starts its PostgreSQL again; if that fails, the newest file in postgres/log of the data folder says why"
			: embeddedAdvice(thrown);
	}

	#begin(): Outage {
		const now = Date.now();
		return {
			since: now,
			toldAt: now,
			refused: 0,
			failures: 0,
			isFull: false,
			causes: {},
		};
	}

	/**
	 * Waits until the outage is over: the database takes a new connection, accepts writes and has room
	 * for them, and nothing has failed for a while.
	 */
	async #watch(outage: Outage): Promise<void> {
		for (;;) {
			const before = outage.failures;
			await sleep(LOOK_MS, undefined, { ref: false });
			if (this.#isClosed) return;
			const isBack = await this.#isBack(outage);
			const now = Date.now();
			const seconds = Math.round((now - outage.since) / 1000);
			const { refused, causes, isFull } = outage;
			if (isBack && outage.failures === before) {
				this.#outage = undefined;
				this.#log.warn(
					{ seconds, refused, causes },
					`the database ${isFull ? "has room" : "is back"} after ${seconds} s; requests turned away: ${refused}`,
				);
				return;
			}
			if (now - outage.toldAt < SUMMARY_MS) continue;
			outage.toldAt = now;
			this.#log.error(
				{ seconds, refused, causes },
				`the database has not ${isFull ? "had room" : "answered properly"} for ${seconds} s; requests turned away so far: ${refused}`,
			);
		}
	}

	async #isBack(outage: Outage): Promise<boolean> {
		try {
			await assertTakesConnections(this.#pool);
			await assertHasRoom(this.#pool);
			return true;
		} catch (error) {
			outage.isFull ||= codeOf(error) === DISK_FULL;
			return false;
		}
	}
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}
