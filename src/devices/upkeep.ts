import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { isConnectionTrouble } from "../errors.ts";
import type { EventHandler } from "../events/types.ts";
import { Pauses } from "../jobs/pauses.ts";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";
import { tellOfKeys } from "./ending-keys.ts";
import { noteEnds } from "./exceptions/expire-exceptions.ts";
import { noteGroupDevices } from "./exceptions/group-exceptions.ts";
import {
	keepGroupPolicies,
	PASS_START,
	type PolicyPass,
} from "./group-policies/assign.ts";
import { settleNonconformities } from "./nonconformities/settle.ts";
import { SWEEP_START, type Sweep } from "./nonconformities/sweep.ts";
import { makeSteps } from "./steps.ts";

/** What time alone changes is done for every organization this often, or as `PAUSE_FACTOR` says. */
const EVERY_MS = 45_000;

/**
 * The next run waits this many times as long as the last one took. In a large fleet, events never
 * stop, and the runs together read every failure.
 */
const PAUSE_FACTOR = 20;

export interface Upkeep {
	poller: Poller;
	/** Notes the organizations whose devices have changed. `poller.wake` then works on them. */
	noteChanges: EventHandler["handle"];
}

/**
 * Does what no request does: once a minute for each organization with devices or keys, and soon after an
 * event about them. Each of the two takes at most a twentieth of the time, so for a large fleet both
 * come later. Every step reads the present state and changes only what is not yet right. Therefore a
 * step that a crash cut off, or that two processes begin, does no harm.
 */
export function startUpkeep(
	pool: Pool,
	sendsMail: boolean,
	log: Logger,
	firstLooks?: FirstLooks,
): Upkeep {
	/** The organizations that have changed since their last sweep began. */
	const changed = new Set<string>();
	/** While an organization has a pause, an event causes no run. */
	const pauses = new Pauses();
	const { sweeps, sweep } = makeSweeps(pool, sendsMail, log);
	const { passes, assign } = makePolicyPasses(pool, log);
	let fullRunAtMs = Number.NEGATIVE_INFINITY;

	async function keep(id: string): Promise<void> {
		// A sweep may have passed what changes while it goes on, so another one has to follow then.
		if (!sweeps.has(id) && !passes.has(id)) changed.delete(id);
		await withTenant(pool, id, (client) => tellOfKeys(client, id));
		await assign(id);
		await sweep(id);
	}

	const poller = startPoller(
		"device upkeep",
		EVERY_MS,
		async () => {
			const runBeganMs = performance.now();
			const isFull = runBeganMs >= fullRunAtMs;
			const waiting = new Set([...changed, ...passes.keys(), ...sweeps.keys()]);
			const ids = isFull ? await organizations(pool) : waiting;
			let isMore = false;
			for (const id of ids) {
				if (!isFull && pauses.isPaused(id)) continue;
				const beganMs = performance.now();
				await keep(id).catch((err) => {
					// The other organizations must not wait for what is wrong with this one.
					if (isConnectionTrouble(err)) throw err;
					log.error({ err, organization: id }, "device upkeep failed");
				});
				if (passes.get(id)?.isMore || sweeps.get(id)?.isMore) {
					isMore = true;
				} else {
					const tookMs = performance.now() - beganMs;
					pauses.begin(id, tookMs, PAUSE_FACTOR, waiting.size);
				}
			}
			if (isFull) {
				const endedMs = performance.now();
				fullRunAtMs =
					endedMs + Math.max(EVERY_MS, PAUSE_FACTOR * (endedMs - runBeganMs));
			}
			return isMore;
		},
		log,
		firstLooks,
	);
	return {
		poller,
		noteChanges: async (_, organizationId, events) => {
			if (events.some(({ type }) => CONCERNS_DEVICES.test(type))) {
				changed.add(organizationId);
			}
		},
	};
}

/** Makes the steps of the sweeps, which `keepDevices` does. */
export function makeSweeps(pool: Pool, sendsMail: boolean, log: Logger) {
	const { places, run } = makeSteps(log, SWEEP_START, (id, sweep) =>
		withTenant(pool, id, (client) => keepDevices(client, id, sendsMail, sweep)),
	);
	return { sweeps: places, sweep: run };
}

/**
 * Makes the steps that assign policies of groups. Each is a transaction of its own, because changes
 * of policies, and devices that enroll, wait for its locks.
 */
export function makePolicyPasses(pool: Pool, log: Logger, start = PASS_START) {
	const { places, run } = makeSteps<PolicyPass>(log, start, (id, pass) =>
		withTenant(pool, id, (client) => keepGroupPolicies(client, id, pass)),
	);
	return { passes: places, assign: run };
}

const CONCERNS_DEVICES = /^(posture|device|exception)\./;

async function organizations(pool: Pool): Promise<string[]> {
	const { rows } = await pool.query<{ id: string }>(
		"select id from organizations_with_devices() as id",
	);
	return rows.map(({ id }) => id);
}

/**
 * Does what is due for the devices of an organization. One call does one step of the sweep over its
 * nonconformities and failures. Returns the sweep for the next step, or undefined if no further step
 * is due. Does nothing and returns "BUSY" if another process does so now.
 */
export async function keepDevices(
	client: PoolClient,
	organizationId: string,
	sendsMail = false,
	sweep = SWEEP_START,
): Promise<Sweep | "BUSY" | undefined> {
	const { rows } = await client.query<{ ours: boolean }>(
		"select pg_try_advisory_xact_lock(hashtextextended('device upkeep ' || $1, 0)) as ours",
		[organizationId],
	);
	if (!rows[0]?.ours) return "BUSY";
	await noteGroupDevices(client, organizationId);
	await noteEnds(client, organizationId);
	return settleNonconformities(client, organizationId, sendsMail, sweep);
}
