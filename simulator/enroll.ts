import { beat, claimedMachine, type Fleet, reportOf } from "./fleet.ts";
import { inParallel, type Pace } from "./pace.ts";
import { roleOf } from "./roles.ts";
import {
	type Answer,
	NO_ANSWER,
	type ServiceClient,
} from "./service-client.ts";

const WIDTH = 16;

/** The number of requests with each outcome. */
export interface Counts {
	added: number;
	enrolled: number;
	/** Heartbeats that the service rejected, such as those of duplicate devices. */
	conflicts: number;
	heartbeats: number;
	reports: number;
	/** Requests that got no answer or that the service could not process. */
	failed: number;
	/** Keys that the service no longer accepts, for example because the device was revoked. */
	revoked: number;
}

export function makeCounts(): Counts {
	return {
		added: 0,
		enrolled: 0,
		conflicts: 0,
		heartbeats: 0,
		reports: 0,
		failed: 0,
		revoked: 0,
	};
}

export class Refused extends Error {}

/**
 * Adds `count` devices, exchanges their tokens for keys, and lets each device send its first
 * heartbeat and report. Throws Refused if the administrator's token may not add devices.
 */
export async function enrollAll(
	fleet: Fleet,
	client: ServiceClient,
	count: number,
	pace: Pace,
	signal: AbortSignal,
	counts: Counts,
): Promise<void> {
	const enrollOne = async (n: number) => {
		if (signal.aborted || !(await pace.turn(signal))) return;
		const { hostname } = claimedMachine(fleet.seed, n).facts;
		const added = await client.addDevice(hostname.split(".")[0] ?? hostname);
		if (!added.body) return refused(added, counts, "addDevice");
		counts.added++;
		if (!(await pace.turn(signal))) return;
		const enrolled = await client.enroll(added.body.enrollment_token);
		if (!enrolled.body) return refused(enrolled, counts, "enroll");
		fleet.keys[n] = enrolled.body.api_key;
		counts.enrolled++;
	};
	await inParallel(count, WIDTH, enrollOne);
	const first = async (n: number) => {
		if (!(await pace.turn(signal))) return;
		await sendBeat(fleet, client, n, counts);
		if (fleet.deviceIds[n] === undefined || !(await pace.turn(signal))) return;
		await sendReport(fleet, client, n, counts);
	};
	// A duplicate waits until the other device has claimed the hardware. Otherwise it would not be
	// the duplicate.
	const isLate = (n: number) => roleOf(n) === "duplicate";
	await inParallel(count, WIDTH, async (n) => {
		if (!isLate(n)) await first(n);
	});
	await inParallel(count, WIDTH, async (n) => {
		if (isLate(n)) await first(n);
	});
}

/** Sends a heartbeat. Returns its answer, or undefined if the device has no key. */
export async function sendBeat(
	fleet: Fleet,
	client: ServiceClient,
	n: number,
	counts: Counts,
) {
	const answer = await beat(fleet, client, n);
	if (!answer) return undefined;
	if (answer.body) counts.heartbeats++;
	else if (answer.status === 400) counts.conflicts++;
	else if (answer.status === 401) counts.revoked++;
	else counts.failed++;
	return answer;
}

export async function sendReport(
	fleet: Fleet,
	client: ServiceClient,
	n: number,
	counts: Counts,
) {
	const key = fleet.keys[n];
	if (key === undefined || fleet.deviceIds[n] === undefined) return undefined;
	const answer = await client.postures(key, reportOf(fleet, n));
	if (answer.status === 204) counts.reports++;
	else if (answer.status === 401) {
		fleet.keys[n] = undefined;
		counts.revoked++;
	} else counts.failed++;
	return answer;
}

function refused(answer: Answer<unknown>, counts: Counts, what: string): void {
	counts.failed++;
	if (answer.status === NO_ANSWER || answer.status >= 500) {
		if (counts.added > 0) return;
		throw new Refused(
			`no Assay service answers at that address: ${answer.message}`,
		);
	}
	// An administrator has to fix this error, which would be the same for every device, so the run
	// ends.
	throw new Refused(`${what}: ${answer.message}`);
}
