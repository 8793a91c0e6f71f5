import { parseArgs } from "node:util";
import { nextDelayMs } from "../agent/backoff.ts";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";
import { RETRY_AFTER_SECONDS } from "../src/errors.ts";
import { toTable } from "./report.ts";

const USAGE = `Usage: npm run bench:return -- [options]

Computes in simulated time how a fleet returns after an outage. Every device waits as the agent does
(agent/backoff.ts). Takes a few seconds.

  --devices <n>   number of devices (1000000)
  --outage <s>    length of the outage in seconds (1800)
  --seed <n>      seed of the random numbers (1)
  --help          print this text
`;

/**
 * The end of the computation. No fleet needs nearly as long, because the longest wait is 30
 * minutes.
 */
const HORIZON_SECONDS = 4 * 3_600;
const NOBODY = -1;

interface Scenario {
	name: string;
	/** The Retry-After of the answers during the outage. Undefined if nobody answered. */
	retryAfterSeconds: number | undefined;
	/**
	 * The requests per second that the service answers after its return. All others get 503 with
	 * Retry-After.
	 */
	capacity: number;
}

interface Result {
	/**
	 * The number of requests in the worst second, whether served or turned away, and the seconds from
	 * the return of the service until then.
	 */
	peakPerSecond: number;
	peakAtSeconds: number;
	/** Requests per second in the worst minute. */
	peakMinute: number;
	refused: number;
	halfBackSeconds: number;
	mostBackSeconds: number;
	allBackSeconds: number;
}

/**
 * Makes the random generator mulberry32, which returns the same numbers for the same seed on every
 * machine.
 */
function makeRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/**
 * Computes how the fleet returns. Each second has a list of devices, stored as a linked list in
 * flat arrays, so that a million devices need no queue. A device that gets through sends its
 * heartbeat, followed by the reports that it made in the meantime.
 */
function compute(
	{ retryAfterSeconds, capacity }: Scenario,
	devices: number,
	outageSeconds: number,
	random: () => number,
): Result {
	const horizon = outageSeconds + HORIZON_SECONDS;
	const first = new Int32Array(horizon + 1).fill(NOBODY);
	const next = new Int32Array(devices);
	const attempts = new Uint8Array(devices);
	const put = (device: number, second: number) => {
		const at = Math.min(Math.floor(second), horizon);
		next[device] = first[at] as number;
		first[at] = device;
	};
	// Each device was at a random point of its interval when the outage began.
	for (let device = 0; device < devices; device++) {
		put(device, random() * DEFAULT_HEARTBEAT_INTERVAL_SECONDS);
	}
	const requests = new Float64Array(horizon + 1);
	const back = new Int32Array(horizon + 1);
	const reportsOfOutage = outageSeconds / DEFAULT_POSTURE_INTERVAL_SECONDS;
	let refused = 0;
	let returned = 0;
	for (let second = 0; second <= horizon; second++) {
		const isOut = second < outageSeconds;
		// Devices that have returned send heartbeats and reports as usual, and the service treats them
		// like all others.
		const usual =
			returned *
			(1 / DEFAULT_HEARTBEAT_INTERVAL_SECONDS +
				1 / DEFAULT_POSTURE_INTERVAL_SECONDS);
		let left = capacity - usual;
		requests[second] = (requests[second] ?? 0) + usual;
		// A device that is turned away in this second returns a second later at the earliest, so the
		// list of this second does not grow.
		for (let device = first[second] as number; device !== NOBODY; ) {
			const following = next[device] as number;
			requests[second] = (requests[second] ?? 0) + 1;
			if (!isOut && left >= 1) {
				const reports =
					Math.floor(reportsOfOutage) +
					(random() < reportsOfOutage % 1 ? 1 : 0);
				requests[second] = (requests[second] ?? 0) + reports;
				left -= 1 + reports;
				back[second] = (back[second] ?? 0) + 1;
				returned++;
			} else {
				if (!isOut) refused++;
				const attempt = Math.min((attempts[device] ?? 0) + 1, 255);
				attempts[device] = attempt;
				const asked = isOut ? retryAfterSeconds : RETRY_AFTER_SECONDS;
				const wait = nextDelayMs({
					attempt,
					retryAfterSeconds: asked,
					random: random(),
				});
				put(device, second + Math.max(1, wait / 1000));
			}
			device = following;
		}
	}
	return summarize(requests, back, devices, outageSeconds, refused);
}

function summarize(
	requests: Float64Array,
	back: Int32Array,
	devices: number,
	outageSeconds: number,
	refused: number,
): Result {
	const after = requests.subarray(outageSeconds);
	let peakAtSeconds = 0;
	let peakMinute = 0;
	let inMinute = 0;
	after.forEach((count, second) => {
		if (count > (after[peakAtSeconds] ?? 0)) peakAtSeconds = second;
		inMinute += count - (second >= 60 ? (after[second - 60] ?? 0) : 0);
		peakMinute = Math.max(peakMinute, inMinute / 60);
	});
	const whenBack = (share: number) => {
		let count = 0;
		for (let second = outageSeconds; second < back.length; second++) {
			count += back[second] ?? 0;
			if (count >= share * devices) return second - outageSeconds;
		}
		return Number.NaN;
	};
	return {
		peakPerSecond: after[peakAtSeconds] ?? 0,
		peakAtSeconds,
		peakMinute,
		refused,
		halfBackSeconds: whenBack(0.5),
		mostBackSeconds: whenBack(0.99),
		allBackSeconds: whenBack(1),
	};
}

const { values } = parseArgs({
	options: {
		devices: { type: "string", default: "1000000" },
		outage: { type: "string", default: "1800" },
		seed: { type: "string", default: "1" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) {
	process.stdout.write(USAGE);
} else {
	const devices = Number(values.devices);
	const outage = Number(values.outage);
	const unlimited = Number.POSITIVE_INFINITY;
	const capacities: [string, number][] = [
		["any rate is served", unlimited],
		["8,000 requests/s are served", 8_000],
		["4,000 requests/s are served", 4_000],
	];
	const scenarios = capacities.flatMap(([served, capacity]): Scenario[] => [
		{
			name: `nobody answered meanwhile; ${served}`,
			retryAfterSeconds: undefined,
			capacity,
		},
		{
			name: `503 with Retry-After ${RETRY_AFTER_SECONDS} meanwhile; ${served}`,
			retryAfterSeconds: RETRY_AFTER_SECONDS,
			capacity,
		},
	]);
	const whole = (value: number) => Math.round(value).toLocaleString("en");
	const rows = scenarios.map((scenario) => {
		const random = makeRandom(Number(values.seed));
		const result = compute(scenario, devices, outage, random);
		return [
			scenario.name,
			whole(result.peakPerSecond),
			whole(result.peakAtSeconds),
			whole(result.peakMinute),
			whole(result.refused),
			whole(result.halfBackSeconds),
			whole(result.mostBackSeconds),
			whole(result.allBackSeconds),
		];
	});
	process.stdout.write(
		`${whole(devices)} devices, ${whole(outage)} s of outage; without one they make ${whole(devices / DEFAULT_HEARTBEAT_INTERVAL_SECONDS + devices / DEFAULT_POSTURE_INTERVAL_SECONDS)} requests/s. Times in seconds from the return.\n\n${toTable(
			[
				"Meanwhile, and then",
				"Peak second, requests",
				"At",
				"Peak minute, requests/s",
				"Refused",
				"50 % back",
				"99 % back",
				"All back",
			],
			rows,
		)}\n`,
	);
}
