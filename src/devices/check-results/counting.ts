import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../../db/pool.ts";
import { isConnectionTrouble } from "../../errors.ts";
import type { EventHandler } from "../../events/types.ts";
import { Pauses } from "../../jobs/pauses.ts";
import {
	type FirstLooks,
	type Poller,
	startPoller,
} from "../../jobs/poller.ts";
import { countChecks, countMissingDay } from "./count-checks.ts";

/** Organizations whose devices have changed are counted this often. */
const EVERY_MS = 10_000;

/** All organizations are counted this often, because a state may change without an event. */
const ALL_EVERY_MS = 60_000;

/**
 * The next count waits this many times as long as the last one took, so the counts that follow
 * events take at most a hundredth of the time. For 100,000 devices, that is about three minutes.
 */
const PAUSE_FACTOR = 100;

/** The same for a run over all organizations, and for days that were not counted. */
const SLOW_PAUSE_FACTOR = 20;

/** Time after which a run leaves the rest of an organization's missing days to the next run. */
const FILL_MS = 500;

export interface CheckCounting {
	poller: Poller;
	/** Notes the organizations whose devices have changed. `poller.wake` then counts them. */
	noteChanges: EventHandler["handle"];
}

/**
 * Counts the devices of each organization by check and state in the background. Pages and tools
 * read the last count, so that they stay fast for a large fleet. `pool` looks for organizations, and
 * the more patient `countsPool` counts. It connects only if there are devices.
 */
export function startCheckCounts(
	pool: Pool,
	countsPool: Pool,
	log: Logger,
	firstLooks?: FirstLooks,
): CheckCounting {
	const changed = new Set<string>();
	/** The organizations that may have days without a count. */
	const unfilled = new Set<string>();
	const pauses = new Pauses();
	let allAtMs = Number.NEGATIVE_INFINITY;

	/** Does a step for an organization, unless the last one is too recent. */
	async function attempt(
		id: string,
		step: (id: string) => Promise<void>,
		pauseFactor: number,
		busy: number,
	): Promise<void> {
		if (pauses.isPaused(id)) return;
		const beganMs = performance.now();
		await step(id).catch((err) => {
			// The other organizations must not wait for what is wrong with this one.
			if (isConnectionTrouble(err)) throw err;
			log.error({ err, organization: id }, "device checks were not counted");
		});
		pauses.begin(id, performance.now() - beganMs, pauseFactor, busy);
	}

	async function count(id: string): Promise<void> {
		const olderThanMs = changed.delete(id) ? 0 : ALL_EVERY_MS / 2;
		await withTenant(countsPool, id, (client) =>
			countChecks(client, id, olderThanMs),
		);
	}

	async function fill(id: string): Promise<void> {
		const endsAtMs = performance.now() + FILL_MS;
		const countOne = (client: PoolClient) => countMissingDay(client, id);
		while (await withTenant(countsPool, id, countOne)) {
			if (performance.now() > endsAtMs) return;
		}
		unfilled.delete(id);
	}

	const poller = startPoller(
		"check counts",
		EVERY_MS,
		async () => {
			const beganMs = performance.now();
			const isAll = beganMs >= allAtMs;
			const ids = isAll ? await organizations(pool) : [...changed];
			const busy = changed.size;
			for (const id of ids) await attempt(id, count, PAUSE_FACTOR, busy);
			if (isAll) {
				for (const id of ids) unfilled.add(id);
				const tookMs = performance.now() - beganMs;
				allAtMs =
					performance.now() +
					Math.max(ALL_EVERY_MS, SLOW_PAUSE_FACTOR * tookMs);
			}
			for (const id of unfilled) await attempt(id, fill, SLOW_PAUSE_FACTOR, 1);
			return false;
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

const CONCERNS_DEVICES = /^(posture|device|exception)\./;

async function organizations(pool: Pool): Promise<string[]> {
	const { rows } = await pool.query<{ id: string }>(
		"select id from organizations_with_devices() as id",
	);
	return rows.map(({ id }) => id);
}
