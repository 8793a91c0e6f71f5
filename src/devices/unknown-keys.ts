import type { Pool } from "pg";
import { byteaArray } from "../db/array.ts";
import { AppError } from "../errors.ts";
import { Batcher } from "../load/batch.ts";
import type { Queue } from "../load/queue.ts";
import { InvalidDeviceKey, type KeyHash } from "./authentication.ts";
import { MAX_DISPLAY_LENGTH } from "./terms.ts";
import { visibleText } from "./visible-text.ts";

/** Claims of a request with an unknown key about its sender. None of them is proved. */
export interface Claims {
	address?: string | undefined;
	hardware_uuid?: string | undefined;
	serial_number?: string | undefined;
	hostname?: string | undefined;
	platform?: string | undefined;
}

type Verdict = "STRICT" | "REVOKED" | "NEVER_HELD" | "RESTORED";

/** Largest number of unknown keys that are kept for the administrator. */
const MAX_KEPT = 10_000;

/** Time for which unknown keys get 401 without another look at the database. */
const STRICT_MS = 10_000;

interface Attempt {
	keyHash: KeyHash;
	claims: Claims;
}

/**
 * Decides the answer to a well-formed key that belongs to no device. The answer is 401, with two
 * exceptions. A database that has never held a device is probably the wrong one. After a restore,
 * the operator may want time to decide. In both cases a 401 would make agents forget their keys. A
 * known key never comes here, so it costs nothing more.
 */
export class UnknownKeys {
	readonly #batcher: Batcher<Attempt, Verdict>;
	readonly #asked = new Map<KeyHash, Promise<Verdict>>();
	#strictUntilMs = 0;

	constructor(pool: Pool) {
		this.#batcher = new Batcher<Attempt, Verdict>({
			name: "unknown_keys",
			key: ({ keyHash }) => keyHash,
			bytes: () => 1024,
			maxBatchRows: 256,
			maxBatchBytes: 1 << 20,
			maxInFlight: 1,
			maxWaitingRows: 2048,
			maxWaitingBytes: 2 << 20,
			run: async (attempts) => {
				const { rows } = await pool.query<{
					ordinal: number;
					verdict: Verdict;
				}>({
					name: "agent_judge_unknown_keys",
					text: "select ordinal, verdict from agent_judge_unknown_keys($1, $2, $3)",
					values: [
						byteaArray(attempts.map(({ keyHash }) => keyHash)),
						JSON.stringify(attempts.map(({ claims }) => claims)),
						MAX_KEPT,
					],
				});
				const verdicts = new Array<Verdict>(attempts.length).fill("STRICT");
				for (const { ordinal, verdict } of rows) {
					verdicts[ordinal - 1] = verdict;
				}
				return verdicts;
			},
		});
	}

	/** Returns the error for the request: a 401, or a 503 while unknown keys shall wait. */
	async judge(keyHash: KeyHash, claims: () => Claims): Promise<AppError> {
		if (Date.now() < this.#strictUntilMs) return new InvalidDeviceKey();
		// Simultaneous requests with one key share an answer.
		let asked = this.#asked.get(keyHash);
		if (!asked) {
			asked = this.#batcher.add({ keyHash, claims: limit(claims()) });
			this.#asked.set(keyHash, asked);
			const forget = () => this.#asked.delete(keyHash);
			asked.then(forget, forget);
		}
		const verdict = await asked;
		if (verdict === "STRICT") this.#strictUntilMs = Date.now() + STRICT_MS;
		if (verdict === "NEVER_HELD") {
			return new AppError(
				"service_unavailable",
				"keep the device key and retry later: this database has never held a device, so it may be the wrong one; the operator should check DATABASE_URL or ASSAY_DATA_DIR",
			);
		}
		if (verdict === "RESTORED") {
			return new AppError(
				"service_unavailable",
				"keep the device key and retry later: the service was restored from a backup that does not contain this key, and its administrator has not decided about such keys yet",
			);
		}
		return new InvalidDeviceKey();
	}

	/** The queue of unknown keys that wait for the database. */
	get queue(): Queue {
		return this.#batcher;
	}

	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}

function limit(claims: Claims): Claims {
	return Object.fromEntries(
		Object.entries(claims)
			.filter(([, text]) => typeof text === "string")
			.map(([name, text]) => [
				name,
				visibleText(String(text)).slice(0, MAX_DISPLAY_LENGTH).toWellFormed(),
			]),
	);
}
