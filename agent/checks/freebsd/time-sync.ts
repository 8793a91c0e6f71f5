import type { Host } from "../../host.ts";
import {
	type CheckOutcome,
	fail,
	notApplicable,
	pass,
	unknown,
} from "../check.ts";
import { runForText } from "../run-for-text.ts";
import { findProgramNames } from "./processes.ts";
import { readSysctl } from "./read-sysctl.ts";

/** Time after the device's start during which its clock may still be synchronizing. */
const SETTLING_MS = 15 * 60 * 1000;

/**
 * Returns PASS if a time service runs and reports that the clock is synchronized. Returns FAIL if
 * no time service runs: with only `ntpdate` at the start, the clock drifts for months. A service
 * that does not synchronize the clock fails only a quarter of an hour after the start. In a jail
 * the check does not apply, because the jail uses the clock of its host.
 */
export async function checkTimeSync(host: Host): Promise<CheckOutcome> {
	if ((await readSysctl(host, "security.jail.jailed")) === "1")
		return notApplicable("jail");
	const names = await findProgramNames(host);
	if (names === undefined)
		return unknown(host.isPrivileged ? "processes_not_readable" : "needs_root");
	const service = names.has("chronyd")
		? "chrony"
		: names.has("ntpd")
			? "ntpd"
			: undefined;
	if (service === undefined) return fail({ service: "none" });

	const found =
		service === "chrony"
			? await askChrony(host)
			: ((await askNtpd(host)) ?? (await askOpenntpd(host)));
	if (found === undefined)
		return unknown("service_does_not_answer", { service });
	const evidence = { service: found.service, synchronized: found.synchronized };
	if (found.synchronized) return pass(evidence);
	return (await isSettling(host))
		? unknown("not_yet_synchronized", evidence)
		: fail(evidence);
}

interface Answer {
	service: string;
	synchronized: boolean;
}

async function askChrony(host: Host): Promise<Answer | undefined> {
	const told = await runForText(host, "chronyc", ["-n", "tracking"]);
	const [, leap] =
		/^Leap status[ \t]*: (Normal|Insert second|Delete second|Not synchronised)[ \t]*$/m.exec(
			told ?? "",
		) ?? [];
	return leap === undefined
		? undefined
		: { service: "chrony", synchronized: leap !== "Not synchronised" };
}

/**
 * Asks ntpd. `leap=11` (or 3) means that the clock is not synchronized to any source (RFC 5905,
 * figure 9).
 */
async function askNtpd(host: Host): Promise<Answer | undefined> {
	const told = await runForText(host, "ntpq", [
		"-n",
		"-c",
		"rv 0 leap,stratum",
	]);
	const [, leap] =
		/(?:^|[\s,])leap=0?([0-3]|10|11)(?=[\s,]|$)/.exec(told ?? "") ?? [];
	return leap === undefined
		? undefined
		: { service: "ntpd", synchronized: leap !== "11" && leap !== "3" };
}

/** Asks OpenNTPD. Its daemon has the same name as ntpd. */
async function askOpenntpd(host: Host): Promise<Answer | undefined> {
	const told = await runForText(host, "ntpctl", ["-s", "status"]);
	const [, clock] = /\bclock (synced|unsynced)\b/.exec(told ?? "") ?? [];
	return clock === undefined
		? undefined
		: { service: "openntpd", synchronized: clock === "synced" };
}

/**
 * Returns true if the device started recently. The kernel reports the start as "{ sec = 1763712000,
 * usec = 0 } Fri Nov 21 08:00:00 2026".
 */
async function isSettling(host: Host): Promise<boolean> {
	const [, seconds] =
		/^\{ sec = (\d{1,12}), /.exec(
			(await readSysctl(host, "kern.boottime")) ?? "",
		) ?? [];
	if (seconds === undefined) return true;
	return host.now.getTime() - Number(seconds) * 1000 < SETTLING_MS;
}
