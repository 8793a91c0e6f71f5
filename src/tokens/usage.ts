import type { Pool } from "pg";
import type { Logger } from "pino";
import { textArray } from "../db/array.ts";
import { MAX_CLIENT_LENGTH } from "../principal.ts";

/** One use of a token. */
export interface Use {
	tokenId: string;
	/** The organization that the call concerned. Null if it concerned none. */
	organizationId: string | null;
	/**
	 * The tool that was called. Null if the token was used for something else, such as listing the
	 * tools.
	 */
	tool: string | null;
	isError: boolean;
	client?: string | undefined;
	address?: string | undefined;
}

interface LastUse {
	at: Date;
	client: string | null;
	address: string | null;
}

interface Calls {
	tokenId: string;
	organizationId: string | null;
	day: string;
	tool: string;
	calls: number;
	errors: number;
	last: LastUse;
}

/** Longest time until a use is written to the database. */
const WRITE_AFTER_MS = 2_000;
/** Longest pause after a failed write. Each failure doubles the pause until it reaches this. */
const MAX_RETRY_MS = 15_000;
/**
 * Largest number of counts that are kept in memory while the database cannot be reached. There is
 * one count for each token, and one for each combination of token, organization, day and tool.
 */
const MAX_KEPT = 10_000;
const MAX_TOOL = 200;
const MAX_ADDRESS = 100;

/**
 * Counts what API tokens are used for. The counts are kept in memory and written in one statement,
 * at most every two seconds, so a request causes no write of its own. While the database cannot be
 * reached, up to MAX_KEPT counts are kept. A crash loses the counts of up to two seconds, which is
 * acceptable for statistics.
 */
export class Usage {
	readonly #pool: Pool;
	readonly #log: Logger;
	#lastUses = new Map<string, LastUse>();
	#calls = new Map<string, Calls>();
	#timer: NodeJS.Timeout | undefined;
	#retryMs = WRITE_AFTER_MS;
	#dropped = 0;
	#writing: Promise<void> = Promise.resolve();
	#isClosed = false;

	constructor(pool: Pool, log: Logger) {
		this.#pool = pool;
		this.#log = log;
	}

	/** Counts a use. This needs no query and never fails. */
	record(use: Use): void {
		const last = {
			at: new Date(),
			client: clean(use.client, MAX_CLIENT_LENGTH),
			address: clean(use.address, MAX_ADDRESS),
		};
		keep(this.#lastUses, use.tokenId, last);
		const tool = clean(use.tool ?? undefined, MAX_TOOL);
		if (tool !== null) {
			this.#count({
				tokenId: use.tokenId,
				organizationId: use.organizationId,
				day: last.at.toISOString().slice(0, 10),
				tool,
				calls: 1,
				errors: use.isError ? 1 : 0,
				last,
			});
		}
		this.#schedule(WRITE_AFTER_MS);
	}

	/** Writes the counts that remain. */
	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		await this.#writing;
		await this.#write();
		if (this.#calls.size > 0) {
			this.#log.error(
				{ lost: this.#calls.size },
				"could not write the usage of API tokens before stopping",
			);
		}
	}

	#count(one: Calls): void {
		const key = `${one.tokenId} ${one.organizationId} ${one.day} ${one.tool}`;
		const known = this.#calls.get(key);
		if (known) {
			known.calls += one.calls;
			known.errors += one.errors;
			if (known.last.at <= one.last.at) known.last = one.last;
		} else if (!keep(this.#calls, key, one)) {
			this.#dropped += one.calls;
		}
	}

	#schedule(ms: number): void {
		if (this.#timer || this.#isClosed) return;
		this.#timer = setTimeout(() => {
			this.#writing = this.#write().then(() => {
				this.#timer = undefined;
				if (this.#lastUses.size > 0) this.#schedule(this.#retryMs);
			});
		}, ms);
		// Without this call, the timer would keep a finished command running. The remaining counts are
		// written by `close`.
		this.#timer.unref();
	}

	async #write(): Promise<void> {
		const lastUses = this.#lastUses;
		const calls = this.#calls;
		if (lastUses.size === 0) return;
		this.#lastUses = new Map();
		this.#calls = new Map();
		try {
			await this.#send([...lastUses], [...calls.values()]);
			this.#retryMs = WRITE_AFTER_MS;
			if (this.#dropped > 0) {
				this.#log.warn(
					{ calls: this.#dropped },
					"dropped usage of API tokens while the database was away",
				);
				this.#dropped = 0;
			}
		} catch (err) {
			this.#log.warn({ err }, "could not write the usage of API tokens yet");
			this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
			// Uses that arrived during the write are newer than those that could not be written.
			for (const [tokenId, use] of lastUses) {
				if (!this.#lastUses.has(tokenId)) keep(this.#lastUses, tokenId, use);
			}
			for (const one of calls.values()) this.#count(one);
		}
	}

	async #send(lastUses: [string, LastUse][], calls: Calls[]): Promise<void> {
		await this.#pool.query({
			name: "record_api_token_calls",
			text: "select record_api_token_calls($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
			values: [
				textArray(lastUses.map(([tokenId]) => tokenId)),
				textArray(lastUses.map(([, { at }]) => at.toISOString())),
				textArray(lastUses.map(([, { client }]) => client)),
				textArray(lastUses.map(([, { address }]) => address)),
				textArray(calls.map((one) => one.tokenId)),
				textArray(calls.map((one) => one.organizationId)),
				textArray(calls.map((one) => one.day)),
				textArray(calls.map((one) => one.tool)),
				textArray(calls.map((one) => String(one.calls))),
				textArray(calls.map((one) => String(one.errors))),
				textArray(calls.map(({ last }) => last.at.toISOString())),
				textArray(calls.map(({ last }) => last.client)),
				textArray(calls.map(({ last }) => last.address)),
			],
		});
	}
}

/** Sets the value of `key`. Returns false if the map is full and does not contain the key. */
function keep<Value>(
	map: Map<string, Value>,
	key: string,
	value: Value,
): boolean {
	if (map.size >= MAX_KEPT && !map.has(key)) return false;
	map.set(key, value);
	return true;
}

/**
 * Returns a text from a client in a form that PostgreSQL can store, with at most `maxLength`
 * characters.
 */
function clean(text: string | undefined, maxLength: number): string | null {
	if (!text) return null;
	return text
		.slice(0, maxLength)
		.replace(/\p{Cc}/gu, "\ufffd")
		.toWellFormed();
}
