import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { codeOf, QUERY_CANCELED } from "../db/sqlstate.ts";
import { isConnectionTrouble } from "../errors.ts";
import type { EventHandler } from "../events/types.ts";
import { Pauses } from "../jobs/pauses.ts";
import { type Poller, startPoller } from "../jobs/poller.ts";
import { tellOfKeys } from "./ending-keys.ts";
import { noteEnds } from "./exceptions/expire-exceptions.ts";
import { noteGroupDevices } from "./exceptions/group-exceptions.ts";
import { keepGroupPolicies } from "./group-policies/assign.ts";
import { settleNonconformities } from "./nonconformities/settle.ts";
import {
	SWEEP_START,
	type Sweep,
	withSmallerSteps,
} from "./nonconformities/sweep.ts";

/** What time alone changes is done for every organization this often, or as `PAUSE_FACTOR` says. */
const EVERY_MS = 45_000;

/**
 * The next run waits this many times as long as the last one took. In a large fleet, events never
 * stop, and the runs together read every failure.
 */
const PAUSE_FACTOR = 20;

/**
 * A run begins no further step for an organization after this time. The next run goes on there, so
 * the other organizations do not wait for a large fleet.
 */
const RUN_MS = 2_000;

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
): Upkeep {
	/** The organizations that have changed since their last sweep began. */
	const changed = new Set<string>();
	/** While an organization has a pause, an event causes no run. */
	const pauses = new Pauses();
	const { sweeps, sweep } = makeSweeps(pool, sendsMail, log);
	let fullRunAtMs = Number.NEGATIVE_INFINITY;

	async function keep(id: string): Promise<void> {
		// A sweep may have passed what changes while it goes on, so another one has to follow then.
		if (!sweeps.has(id)) changed.delete(id);
		// A transaction of its own, because changes of policies, and devices that enroll, wait for
		// its locks.
		await withTenant(pool, id, async (client) => {
			await keepGroupPolicies(client, id);
			await tellOfKeys(client, id);
		});
		await sweep(id);
	}

	const poller = startPoller(
		"device upkeep",
		EVERY_MS,
		async () => {
			const runBeganMs = performance.now();
			const isFull = runBeganMs >= fullRunAtMs;
			const waiting = new Set([...changed, ...sweeps.keys()]);
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
				if (sweeps.get(id)?.isOpening) {
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

/**
 * Makes a function that sweeps an organization until the end, or for `RUN_MS`. `sweeps` has those
 * that have begun and are not at their end. If PostgreSQL cancels a statement, mostly because it
 * took too long, the sweep goes on with smaller steps.
 */
export function makeSweeps(pool: Pool, sendsMail: boolean, log: Logger) {
	const sweeps = new Map<string, Sweep>();
	/** The organizations for which the log says that steps are too slow. */
	const slow = new Set<string>();

	function afterFailure(id: string, sweep: Sweep, err: unknown): Sweep {
		const smaller =
			codeOf(err) === QUERY_CANCELED ? withSmallerSteps(sweep) : undefined;
		if (!smaller) throw err;
		if (!slow.has(id)) {
			log.warn(
				{ err, organization: id, rows: smaller.size },
				"device upkeep took too long and goes on with fewer rows at a time; the database is overloaded",
			);
		}
		slow.add(id);
		return smaller;
	}

	return {
		sweeps: sweeps as ReadonlyMap<string, Sweep>,
		sweep: async (id: string): Promise<void> => {
			const endMs = performance.now() + RUN_MS;
			do {
				const sweep = sweeps.get(id) ?? SWEEP_START;
				const next = await withTenant(pool, id, (client) =>
					keepDevices(client, id, sendsMail, sweep),
				).catch((err) => afterFailure(id, sweep, err));
				if (next === "BUSY") {
					sweeps.set(id, { ...sweep, isOpening: false });
					return;
				}
				if (next) {
					sweeps.set(id, next);
				} else {
					sweeps.delete(id);
					if (sweep.size === SWEEP_START.size) slow.delete(id);
				}
			} while (sweeps.has(id) && performance.now() < endMs);
		},
	};
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
