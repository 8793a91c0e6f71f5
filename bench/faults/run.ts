import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger, Writers } from "../failover/writers.ts";
import { say } from "../run.ts";
import { compare } from "../stored.ts";
import type { Bench, Fault } from "./kinds.ts";
import { findRecovery, longestGap, rateOf } from "./recovery.ts";
import type { Row } from "./report.ts";

const SECOND = 1_000;
/**
 * Milliseconds after the repair. If a service has acknowledged nothing by then, it counts as not
 * recovered.
 */
const GIVE_UP_MS = 90 * SECOND;

export interface FaultRow extends Row {
	/** True if a write was acknowledged after the repair. */
	isBack: boolean;
	peakMib: number;
}

/**
 * How long the load is watched: before the fault, at least after it, and at most until the earlier
 * rate is reached again.
 */
export interface Watch {
	beforeMs: number;
	afterMs: number;
	mostAfterMs: number;
}

/** Runs one fault under load and finds out what became of the acknowledged writes. */
export async function runFault(
	fault: Fault,
	bench: Bench,
	port: number,
	watch: Watch,
): Promise<FaultRow> {
	say(fault.name);
	const { stand, writers, second } = bench;
	const services = second ? [stand.service, second] : [stand.service];
	for (const service of services) service.peakMib = 0;
	const countCrashes = () =>
		services.reduce((sum, { crashes }) => sum + crashes, 0);
	const crashesBefore = countCrashes();
	const watching = setInterval(() => {
		for (const service of services) service.readMib();
	}, 100);
	writers.start(port);
	// The writers start one after the other within a second.
	await sleep(1.5 * SECOND);
	const beganAt = performance.now();
	await sleep(watch.beforeMs);
	const perSecond = rateOf(writers.ledger, beganAt, performance.now());
	await fault.run(bench);
	const mendedAt = performance.now();
	const recoveredMs = await recover(writers, mendedAt, perSecond, watch);
	const endedAt = performance.now();
	const ledger = await writers.stop();
	clearInterval(watching);
	const found = await stand.asOwner((client) =>
		compare(client, stand.fleet, ledger),
	);
	return {
		...found,
		name: fault.name,
		ledger,
		acknowledged: ledger.acknowledgedAt.length,
		perSecond,
		unavailableMs: longestGap(ledger, beganAt, endedAt).ms,
		isBack: isBackAfter(ledger, mendedAt),
		recoveredMs,
		peakMib: Math.max(...services.map(({ peakMib }) => peakMib)),
		crashes: countCrashes() - crashesBefore,
	};
}

/** Waits until the earlier rate is reached or the time is over. */
async function recover(
	writers: Writers,
	mendedAt: number,
	perSecond: number,
	{ afterMs, mostAfterMs }: Watch,
): Promise<number | undefined> {
	let recoveredMs: number | undefined;
	for (;;) {
		const now = performance.now();
		recoveredMs ??= findRecovery(writers.ledger, mendedAt, now, perSecond);
		const isDone = recoveredMs !== undefined && now - mendedAt > afterMs;
		const mostMs = isBackAfter(writers.ledger, mendedAt)
			? mostAfterMs
			: GIVE_UP_MS;
		if (isDone || now - mendedAt > mostMs) return recoveredMs;
		await sleep(100);
	}
}

function isBackAfter({ acknowledgedAt }: Ledger, mendedAt: number): boolean {
	return (acknowledgedAt.at(-1) ?? 0) > mendedAt;
}
