import type { Pool } from "pg";
import { TENANT_PREFIX_LENGTH } from "../id.ts";
import {
	CHOICE_NAMES,
	DEFAULT_THRESHOLDS,
	THRESHOLD_NAMES,
	type Thresholds,
} from "./thresholds.ts";

const REFRESH_MS = 30_000;

const NAMES = [...THRESHOLD_NAMES, ...CHOICE_NAMES].join(", ");

/** The thresholds of an organization, or those that a group's policy replaces. */
type Row = { [Name in keyof Thresholds]: Thresholds[Name] | null } & {
	organization_id: string;
	policy_id: string | null;
};

/**
 * The thresholds of all organizations and groups that have changed them, in memory. One statement
 * reads them all, at most every 30 seconds and only while there are heartbeats, so a heartbeat costs
 * no statement of its own.
 */
export class PolicyCache {
	readonly #pool: Pool;
	readonly #refreshMs: number;
	/**
	 * The thresholds by tenant, which the ids of an organization's devices contain, and those of
	 * groups by the policy's id.
	 */
	#known: Map<string, Thresholds> | undefined;
	#readAtMs = Number.NEGATIVE_INFINITY;
	#reading: Promise<void> | undefined;

	constructor(pool: Pool, refreshMs = REFRESH_MS) {
		this.#pool = pool;
		this.#refreshMs = refreshMs;
	}

	/**
	 * Returns the thresholds of a device: of the group's policy that applies to it, if there is one,
	 * otherwise of its organization. Returns undefined until the database has answered once. The agent
	 * then keeps the thresholds that it has. Returns a promise only while no thresholds are known.
	 */
	thresholdsOf(
		deviceId: string,
		groupPolicyId: string | null = null,
	): Thresholds | undefined | Promise<Thresholds | undefined> {
		if (performance.now() - this.#readAtMs >= this.#refreshMs) {
			this.#reading ??= this.#read().finally(() => {
				this.#reading = undefined;
			});
		}
		if (this.#known || !this.#reading)
			return this.#find(deviceId, groupPolicyId);
		return this.#reading.then(() => this.#find(deviceId, groupPolicyId));
	}

	#find(deviceId: string, policyId: string | null): Thresholds | undefined {
		const known = this.#known;
		if (!known) return undefined;
		return (
			(policyId === null ? undefined : known.get(policyId)) ??
			known.get(tenantOf(deviceId)) ??
			DEFAULT_THRESHOLDS
		);
	}

	/** Resolves when no statement is running. */
	async idle(): Promise<void> {
		await this.#reading;
	}

	async #read(): Promise<void> {
		// After a failure, the next attempt waits as long as after a success.
		this.#readAtMs = performance.now();
		try {
			const { rows } = await this.#pool.query<Row>({
				name: "device_policies",
				text: `
					select organization_id, null as policy_id, ${NAMES} from agent_device_policies()
					union all
					select organization_id, id, ${NAMES} from agent_group_policies()
					order by policy_id nulls first`,
			});
			const known = new Map<string, Thresholds>();
			for (const { organization_id, policy_id, ...given } of rows) {
				const tenant = tenantOf(organization_id);
				known.set(policy_id ?? tenant, {
					...(known.get(tenant) ?? DEFAULT_THRESHOLDS),
					...withoutNulls(given),
				});
			}
			this.#known = known;
		} catch {
			// The statement of the heartbeats reports that the database cannot be reached.
		}
	}
}

/** Returns the beginning of an id, which is the same for an organization and its devices. */
const tenantOf = (id: string) => id.slice(0, TENANT_PREFIX_LENGTH);

const withoutNulls = (given: object) =>
	Object.fromEntries(
		Object.entries(given).filter(([, value]) => value !== null),
	) as Partial<Thresholds>;
