import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { MAX_AHEAD_MS } from "../retention/clock-check.ts";
import { readRetentionTimes } from "../retention/last-retention.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

const MAX_DIFFERENCE_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** systemd makes this file when it starts in a container. */
const CONTAINER_FILE = "/run/systemd/container";

/**
 * Compares the clocks of this machine and of the database. With the tables of this version, it also
 * compares the latter with the last removal of old rows (src/retention/clock-check.ts), because both
 * clocks may be those of one machine.
 */
export async function examineClock(
	client: Client,
	hasTables: boolean,
): Promise<Finding> {
	const check = "clock";
	const before = Date.now();
	const { rows } = await client.query<{ now: Date }>(
		"select clock_timestamp() as now",
	);
	const middle = (before + Date.now()) / 2;
	const difference = Math.abs((rows[0]?.now.getTime() ?? 0) - middle);
	const found = `${describeDuration(difference)} between this machine and the database`;
	if (difference > MAX_DIFFERENCE_MS) {
		return {
			check,
			status: "problem",
			found,
			advice: "synchronize both machines' clocks with NTP",
		};
	}
	const aheadMs = hasTables ? await readAheadMs(client) : 0;
	if (aheadMs > MAX_AHEAD_MS) {
		return {
			check,
			status: "warning",
			found: `the clock of the database is ${describeDuration(aheadMs)} ahead of the last complete removal of old rows`,
			advice:
				"if this clock is wrong, correct it within an hour after the service starts, or the service then deletes too much, and nothing brings it back; if the service was off or could not remove old rows since then, the clock needs no correction",
		};
	}
	return { check, status: "ok", found };
}

async function readAheadMs(client: Client): Promise<number> {
	await client.query("begin read only");
	await client.query(setRole("app", "transaction"));
	const { nowMs, lastMs } = await readRetentionTimes(client);
	await client.query("rollback");
	return nowMs - lastMs;
}

/** Asks systemd whether something keeps this machine's clock right. */
export async function examineTimeSynchronization(): Promise<Finding> {
	const answer = await promisify(execFile)(
		"timedatectl",
		["show", "--property=NTPSynchronized"],
		{ timeout: TIMEOUT_MS },
	).catch(() => undefined);
	return describeTimeSynchronization(
		answer?.stdout,
		existsSync(CONTAINER_FILE),
	);
}

/** `answer` is what `timedatectl show` prints, or undefined if it cannot say anything. */
export function describeTimeSynchronization(
	answer: string | undefined,
	isInContainer: boolean,
): Finding {
	const check = "time synchronization";
	if (isInContainer) {
		return {
			check,
			status: "ok",
			found: "unknown, because a container has the clock of its host",
		};
	}
	switch (answer?.trim()) {
		case "NTPSynchronized=yes":
			return {
				check,
				status: "ok",
				found: "this machine's clock is synchronized",
			};
		case "NTPSynchronized=no":
			return {
				check,
				status: "warning",
				found: "nothing synchronizes this machine's clock",
				advice:
					"install chrony, or run timedatectl set-ntp true; with a wrong clock, second factors and identity providers fail, and reports have wrong times",
			};
		default:
			return {
				check,
				status: "ok",
				found:
					"unknown, because systemd's timedatectl does not answer; in a container, look at the host",
			};
	}
}
