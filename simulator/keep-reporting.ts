import { nextDelayMs } from "../agent/backoff.ts";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";
import { type Counts, sendBeat, sendReport } from "./enroll.ts";
import type { Fleet } from "./fleet.ts";
import { type Pace, waitMs } from "./pace.ts";
import { roleOf } from "./roles.ts";
import type { Answer, ServiceClient } from "./service-client.ts";

/**
 * The largest number of requests in flight. Without a limit, requests to a slow service would fill
 * the memory of this process.
 */
const MOST_IN_FLIGHT = 64;

interface Intervals {
	heartbeatSeconds: number;
	postureSeconds: number;
}

/**
 * Sends heartbeats and reports of the whole fleet until `signal` aborts, spread evenly over the
 * intervals that the service has set. Devices whose requests fail back off as the agent does.
 * Unlike the agent, they do not queue their reports.
 */
export async function keepReporting(
	fleet: Fleet,
	client: ServiceClient,
	pace: Pace,
	signal: AbortSignal,
	counts: Counts,
): Promise<void> {
	const intervals: Intervals = {
		heartbeatSeconds: DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
		postureSeconds: DEFAULT_POSTURE_INTERVAL_SECONDS,
	};
	const backOff = new BackOff(fleet.keys.length);
	const beats = walk(
		fleet,
		pace,
		signal,
		() => intervals.heartbeatSeconds,
		async (n) => {
			if (backOff.waits(n)) return;
			const answer = await sendBeat(fleet, client, n, counts);
			if (!answer) return;
			backOff.note(n, answer);
			if (!answer.body) return;
			intervals.heartbeatSeconds = answer.body.heartbeat_interval_seconds;
			intervals.postureSeconds = answer.body.posture_interval_seconds;
		},
	);
	const reports = walk(
		fleet,
		pace,
		signal,
		() => intervals.postureSeconds,
		async (n) => {
			if (backOff.waits(n)) return;
			const answer = await sendReport(fleet, client, n, counts);
			if (answer) backOff.note(n, answer);
		},
	);
	await Promise.all([beats, reports]);
}

/** Calls `send` for one device after the other, so that each has its turn once in an interval. */
async function walk(
	fleet: Fleet,
	pace: Pace,
	signal: AbortSignal,
	intervalSeconds: () => number,
	send: (n: number) => Promise<void>,
): Promise<void> {
	const inFlight = new Set<Promise<void>>();
	let due = performance.now();
	for (let n = 0; ; n = (n + 1) % fleet.keys.length) {
		if (!(await waitMs(due - performance.now(), signal))) break;
		// If requests could not be sent in time, they are skipped, as the agent skips them.
		due =
			Math.max(due, performance.now() - 1000) +
			(intervalSeconds() * 1000) / fleet.keys.length;
		if (roleOf(n) === "silent" || fleet.keys[n] === undefined) continue;
		if (!(await pace.turn(signal))) break;
		if (inFlight.size >= MOST_IN_FLIGHT) await Promise.race(inFlight);
		const sent: Promise<void> = send(n).finally(() => inFlight.delete(sent));
		inFlight.add(sent);
	}
	await Promise.all(inFlight);
}

/** Stores when each device may retry, in 9 bytes a device. */
class BackOff {
	readonly #until: Float64Array;
	readonly #failures: Uint8Array;

	constructor(devices: number) {
		this.#until = new Float64Array(devices);
		this.#failures = new Uint8Array(devices);
	}

	waits(n: number): boolean {
		return (this.#until[n] ?? 0) > performance.now();
	}

	note(n: number, { status, retryAfterSeconds }: Answer<unknown>): void {
		if (status !== 0 && status < 500) {
			this.#failures[n] = 0;
			return;
		}
		const attempt = Math.min((this.#failures[n] ?? 0) + 1, 255);
		this.#failures[n] = attempt;
		const random = Math.random();
		this.#until[n] =
			performance.now() + nextDelayMs({ attempt, retryAfterSeconds, random });
	}
}
