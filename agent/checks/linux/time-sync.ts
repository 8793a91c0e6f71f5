import type { Host } from "../../host.ts";
import {
	type CheckOutcome,
	fail,
	notApplicable,
	pass,
	unknown,
} from "../check.ts";
import { runForText } from "../run-for-text.ts";
import { findEnclosure } from "./enclosure.ts";
import { findProcesses } from "./processes.ts";
import { readText } from "./read-text.ts";
import { findServices } from "./services.ts";
import { parseSettings, parseSwitch } from "./settings.ts";

/** Seconds after the device's start during which its clock may still be synchronizing. */
const SETTLING_SECONDS = 15 * 60;

/** Services that set the clock from the network, with their names in evidence. */
const SERVICES: Record<string, string> = {
	"systemd-timesyncd.service": "systemd-timesyncd",
	"chronyd.service": "chrony",
	"chrony.service": "chrony",
	"ntpd.service": "ntpd",
	"ntp.service": "ntpd",
	"ntpsec.service": "ntpd",
	"openntpd.service": "openntpd",
};

export const TIME_UNITS = Object.keys(SERVICES);

const PROGRAMS: Record<string, string> = {
	"systemd-timesyn": "systemd-timesyncd",
	"systemd-timesyncd": "systemd-timesyncd",
	chronyd: "chrony",
	ntpd: "ntpd",
};

/**
 * Returns PASS if a time service runs and the kernel or the service reports that the clock is
 * synchronized. Without a service the result is FAIL, whatever the kernel says: its flag stays for
 * hours after the service was stopped. chrony does not set the kernel's flag unless its
 * configuration has `rtcsync`, so if the kernel says no, the check asks the service. A service that
 * runs without success fails only a quarter of an hour after the start. In a container or WSL the
 * check does not apply, because they use the clock of their host. A virtual machine has a clock of
 * its own, which drifts without a service.
 */
export async function checkTimeSync(host: Host): Promise<CheckOutcome> {
	const enclosure = await findEnclosure(host);
	if (enclosure) return notApplicable(enclosure);
	const service = await findService(host);
	const kernel = await askKernel(host);
	const synchronized =
		kernel === true ? true : ((await askService(host, service)) ?? kernel);
	const evidence = {
		...(service && { service }),
		...(synchronized !== undefined && { synchronized }),
	};
	if (service === "none") return fail(evidence);
	if (synchronized) {
		return service === undefined
			? unknown("service_manager_not_recognized", evidence)
			: pass(evidence);
	}
	if (synchronized === undefined) return unknown("command_failed", evidence);
	const uptime = Number.parseFloat(
		(await readText(host, "/proc/uptime")) ?? "",
	);
	if (!(uptime > SETTLING_SECONDS)) {
		return unknown("not_yet_synchronized", evidence);
	}
	return fail(evidence);
}

/** Returns our name for the time service that runs, `none`, or undefined if this is unknown. */
async function findService(host: Host): Promise<string | undefined> {
	const services = await findServices(host, TIME_UNITS);
	for (const [unit, name] of Object.entries(SERVICES)) {
		if (services?.get(unit)?.isActive) return name;
	}
	const processes = await findProcesses(host);
	for (const { name, isContained } of processes ?? []) {
		// A service in a container keeps no clock of the device.
		if (!isContained && Object.hasOwn(PROGRAMS, name)) return PROGRAMS[name];
	}
	return processes ? "none" : undefined;
}

/** Asks the kernel whether the clock is synchronized, no matter which service does it. */
async function askKernel(host: Host): Promise<boolean | undefined> {
	const shown = await runForText(host, "timedatectl", [
		"show",
		"--property=NTPSynchronized",
	]);
	const settings = parseSettings(shown ?? "");
	const synchronized = parseSwitch(settings.get("NTPSynchronized"));
	if (synchronized !== undefined) return synchronized;
	// timedatectl has no `show` before systemd 239.
	const status = await runForText(host, "timedatectl", ["status"]);
	const said = /^[ \t]*(?:NTP|System clock) synchronized: (yes|no)$/m.exec(
		status ?? "",
	)?.[1];
	if (said !== undefined) return said === "yes";
	const busybox = await runForText(host, "busybox", ["adjtimex"]);
	const flags = /^[ \t]*status:[ \t]+(\d{1,6})\b/m.exec(busybox ?? "")?.[1];
	// The bit 0x40 is STA_UNSYNC of adjtimex(2).
	return flags === undefined ? undefined : (Number(flags) & 0x40) === 0;
}

async function askService(
	host: Host,
	service: string | undefined,
): Promise<boolean | undefined> {
	if (service === "chrony") {
		const text = await runForText(host, "chronyc", ["-n", "tracking"]);
		const leap = /^Leap status\s*: ([A-Za-z ]{1,30})$/m.exec(text ?? "")?.[1];
		if (leap === undefined) return undefined;
		return /^(Normal|Insert second|Delete second)$/.test(leap)
			? true
			: leap === "Not synchronised"
				? false
				: undefined;
	}
	if (service !== "ntpd" && service !== "openntpd") return undefined;
	const variables = await runForText(host, "ntpq", [
		"-n",
		"-c",
		"rv 0 leap,stratum",
	]);
	const leap = /\bleap=(\d{2}|[0-3])\b/.exec(variables ?? "")?.[1];
	if (leap !== undefined) return !/^(11|3)$/.test(leap);
	const status = await runForText(host, "ntpctl", ["-s", "status"]);
	const clock = /\bclock (synced|unsynced)\b/.exec(status ?? "")?.[1];
	return clock === undefined ? undefined : clock === "synced";
}
