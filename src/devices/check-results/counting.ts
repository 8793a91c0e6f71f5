import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { codeOf, QUERY_CANCELED } from "../../db/sqlstate.ts";
import { isConnectionTrouble } from "../../errors.ts";
import type { EventHandler } from "../../events/types.ts";
import { Pauses } from "../../jobs/pauses.ts";
import {
	type FirstLooks,
	type Poller,
	startPoller,
} from "../../jobs/poller.ts";
import { SLICE_DEVICES, type Slicing } from "../count-in-slices.ts";
import { countChecks, countMissingDay } from "./count-checks.ts";

/** Organizations whose devices have changed are counted this often. */
const EVERY_MS = 10_000;

/** All organizations are counted this often, because a state may change without an event. */
const ALL_EVERY_MS = 60_000;

/**
 * The next count waits this many times as long as the last one worked, so the counts that follow
 * events take at most a hundredth of the time. For 100,000 devices, that is about three minutes.
 */
const PAUSE_FACTOR = 100;

/** The same for a run over all organizations, for days that were not counted, and after a failure. */
const SLOW_PAUSE_FACTOR = 20;

/** A count that failed has a pause as if it had worked for at least this time. */
const LEAST_FAILED_MS = 3_000;

/**
 * Between two slices of a fleet, a count rests this many times as long as the last slice took. So it
 * takes at most a quarter of a core while it goes on.
 */
const REST_FACTOR = 3;

/** The longest rest. A slice may have taken long for a reason that is over. */
const LONGEST_REST_MS = 30_000;

/** After a slice took too long, the next ones have a quarter of its devices, but at least these. */
const SMALLEST_SLICE = 300;

/** After a count of this time, a run looks for organizations that have changed meanwhile. */
const LONG_MS = 1_000;

/** Time after which a run leaves the rest of an organization's missing days to the next run. */
const FILL_MS = 500;

export interface CheckCounting {
	poller: Poller;
	/** Notes the organizations whose devices have changed. `poller.wake` then counts them. */
	noteChanges: EventHandler["handle"];
	/** Looks for no further work, and resolves when the running slice is counted. */
	stop: () => Promise<void>;
}

/** Returns the time that a count rests after a slice. */
export const restAfter = (tookMs: number) =>
	Math.min(LONGEST_REST_MS, REST_FACTOR * tookMs);

/**
 * Counts the devices of each organization by check and state in the background. Pages and tools
 * read the last count, so that they stay fast for a large fleet. `pool` looks for organizations, and
 * `countsPool`, which has longer time limits, counts. It connects only if there are devices.
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
	/** The devices of a slice, for organizations whose slices took too long. */
	const slices = new Map<string, number>();
	/** The time that the last count of an organization worked. */
	const workedMs = new Map<string, number>();
	const pauses = new Pauses();
	const stopping = new AbortController();
	let allAtMs = Number.NEGATIVE_INFINITY;

	/** Does a step for an organization, unless the last one is too recent. */
	async function attempt(
		id: string,
		step: (id: string, slicing: Slicing) => Promise<void>,
		pauseFactor: number,
		busy: number,
	): Promise<void> {
		if (stopping.signal.aborted || pauses.isPaused(id)) return;
		const beganMs = performance.now();
		let restedMs = 0;
		const rest = async (tookMs: number) => {
			const restMs = restAfter(tookMs);
			await sleep(restMs, undefined, { signal: stopping.signal });
			restedMs += restMs;
		};
		const worked = () => Math.max(0, performance.now() - beganMs - restedMs);
		try {
			await step(id, { devices: slices.get(id), rest });
			workedMs.set(id, worked());
			pauses.begin(id, worked(), pauseFactor, busy);
		} catch (err) {
			// The other organizations must not wait for what is wrong with this one.
			if (isConnectionTrouble(err)) throw err;
			if (stopping.signal.aborted) return;
			const failedMs = Math.max(LEAST_FAILED_MS, worked());
			workedMs.set(id, failedMs);
			pauses.begin(id, failedMs, SLOW_PAUSE_FACTOR, busy);
			tellFailure(id, err);
		}
	}

	function tellFailure(id: string, err: unknown): void {
		const next = {
			organization: id,
			retry_seconds: Math.round(pauses.remainingMs(id) / 1_000),
		};
		const devices = slices.get(id) ?? SLICE_DEVICES;
		if (codeOf(err) === QUERY_CANCELED && devices > SMALLEST_SLICE) {
			const fewer = Math.max(SMALLEST_SLICE, Math.floor(devices / 4));
			slices.set(id, fewer);
			log.warn(
				{ err, ...next, devices: fewer },
				"counting device checks took too long; the last counts stay until the retry, which reads fewer devices at a time; the database is overloaded",
			);
		} else {
			log.error(
				{ err, ...next },
				"device checks were not counted; the last counts stay until the retry",
			);
		}
	}

	async function count(id: string, slicing: Slicing): Promise<void> {
		const hasChanged = changed.delete(id);
		try {
			const olderThanMs = hasChanged ? 0 : ALL_EVERY_MS / 2;
			await countChecks(countsPool, id, olderThanMs, slicing);
		} catch (err) {
			if (hasChanged) changed.add(id);
			throw err;
		}
	}

	async function fill(id: string, slicing: Slicing): Promise<void> {
		const endsAtMs = performance.now() + FILL_MS;
		while (await countMissingDay(countsPool, id, slicing)) {
			if (performance.now() > endsAtMs) return;
		}
		unfilled.delete(id);
	}

	/**
	 * Counts these organizations, each once. The quickest come first. After a large fleet come those
	 * that have changed meanwhile, so nobody waits for more than one large fleet.
	 */
	async function countEach(
		ids: Iterable<string>,
		busy: number,
		done = new Set<string>(),
	): Promise<void> {
		const quickestFirst = [...ids].sort(
			(a, b) => (workedMs.get(a) ?? 0) - (workedMs.get(b) ?? 0),
		);
		for (const id of quickestFirst) {
			if (done.has(id)) continue;
			done.add(id);
			const beganMs = performance.now();
			await attempt(id, count, PAUSE_FACTOR, busy);
			if (performance.now() - beganMs > LONG_MS) {
				await countEach(changed, busy, done);
			}
		}
	}

	const poller = startPoller(
		"check counts",
		EVERY_MS,
		async () => {
			const beganMs = performance.now();
			const isAll = beganMs >= allAtMs;
			const ids = isAll ? await organizations(pool) : [];
			await countEach(new Set([...ids, ...changed]), changed.size);
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
		stop: () => {
			stopping.abort();
			return poller.stop();
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
