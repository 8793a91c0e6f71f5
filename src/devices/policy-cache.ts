import type { Pool } from "pg";
import { TENANT_PREFIX_LENGTH } from "../id.ts";
import {
	CHOICE_NAMES,
	DEFAULT_THRESHOLDS,
	THRESHOLD_NAMES,
	type Thresholds,
} from "./thresholds.ts";

const REFRESH_MS = 30_000;

/**
 * The thresholds of all organizations that have changed them, in memory. One statement reads them
 * all, at most every 30 seconds and only while there are heartbeats, so a heartbeat costs no
 * statement of its own.
 */
export class PolicyCache {
	readonly #pool: Pool;
	readonly #refreshMs: number;
	/** The thresholds by tenant, which the ids of an organization's devices contain. */
	#known: Map<string, Thresholds> | undefined;
	#readAtMs = Number.NEGATIVE_INFINITY;
	#reading: Promise<void> | undefined;

	constructor(pool: Pool, refreshMs = REFRESH_MS) {
		this.#pool = pool;
		this.#refreshMs = refreshMs;
	}

	/**
	 * Returns the thresholds of the organization that a device belongs to. Returns undefined until
	 * the database has answered once. The agent then keeps the thresholds that it has. Returns a
	 * promise only while no thresholds are known.
	 */
	thresholdsOf(
		deviceId: string,
	): Thresholds | undefined | Promise<Thresholds | undefined> {
		if (performance.now() - this.#readAtMs >= this.#refreshMs) {
			this.#reading ??= this.#read().finally(() => {
				this.#reading = undefined;
			});
		}
		if (this.#known || !this.#reading) return this.#find(deviceId);
		return this.#reading.then(() => this.#find(deviceId));
	}

	#find(deviceId: string): Thresholds | undefined {
		if (!this.#known) return undefined;
		return this.#known.get(tenantOf(deviceId)) ?? DEFAULT_THRESHOLDS;
	}

	/** Resolves when no statement is running. */
	async idle(): Promise<void> {
		await this.#reading;
	}

	async #read(): Promise<void> {
		// After a failure, the next attempt waits as long as after a success.
		this.#readAtMs = performance.now();
		try {
			const { rows } = await this.#pool.query<
				Thresholds & { organization_id: string }
			>({
				name: "device_policies",
				text: `select organization_id, ${[...THRESHOLD_NAMES, ...CHOICE_NAMES].join(", ")} from agent_device_policies()`,
			});
			this.#known = new Map(
				rows.map(({ organization_id, ...thresholds }) => [
					tenantOf(organization_id),
					thresholds as Thresholds,
				]),
			);
		} catch {
			// The statement of the heartbeats reports that the database cannot be reached.
		}
	}
}

/** Returns the beginning of an id, which is the same for an organization and its devices. */
const tenantOf = (id: string) => id.slice(0, TENANT_PREFIX_LENGTH);
