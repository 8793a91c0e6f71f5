import type { Host } from "../../host.ts";
import {
	type CheckOutcome,
	fail,
	notApplicable,
	pass,
	unknown,
} from "../check.ts";
import {
	type Desktop,
	DISPLAY_SERVER,
	findDesktops,
	findPerson,
	GDM,
	LOGIN_SCREEN,
} from "./desktops.ts";
import { readIdleLocker } from "./idle-lockers.ts";
import {
	type FoundLock,
	readGnomeLock,
	readKdeLock,
	readXfceLock,
} from "./lock-settings.ts";
import { findProcesses } from "./processes.ts";

/**
 * Returns PASS if each desktop in use locks itself within 15 minutes after it was last used, as the
 * CIS benchmarks (an idle delay of at most 900 seconds) and PCI DSS require. If several users have
 * desktops, the worst result counts. The check reads the settings of the user and those that the
 * administrator has set as defaults or enforced. A window manager without a known locker is never
 * locked and fails, unless a shell runs that may lock it. GNOME Shell locks only if GDM runs. If
 * the check does not know the settings of a desktop, the result is UNKNOWN. Without a desktop the
 * check does not apply.
 */
export async function checkScreenLock(host: Host): Promise<CheckOutcome> {
	const all = await findProcesses(host);
	if (!all) {
		return unknown(host.isPrivileged ? "processes_not_readable" : "needs_root");
	}
	// The desktop of a container is on no screen of the device.
	const processes = all.filter(({ isContained }) => !isContained);
	const desktops = await findDesktops(host, processes);
	const runs = (program: RegExp) =>
		processes.some(({ name }) => program.test(name));
	if (desktops.length === 0) {
		const isPersons = processes.some(
			({ name, uid }) => uid >= 1000 && DISPLAY_SERVER.test(name),
		);
		if (runs(LOGIN_SCREEN) && !isPersons) return unknown("nobody_logged_in");
		return runs(DISPLAY_SERVER)
			? unknown("desktop_not_recognized")
			: notApplicable("no_desktop");
	}
	const outcomes: CheckOutcome[] = [];
	for (const desktop of desktops) {
		const isShell = desktop.processes.some(
			({ name }) => name === "gnome-shell",
		);
		outcomes.push(
			desktop.kind === "gnome" && isShell && !runs(GDM)
				? fail({ desktop: "gnome", lock_enabled: false, gdm_running: false })
				: judge(host, desktop, await readLock(host, desktop)),
		);
	}
	const worst =
		outcomes.find(({ status }) => status === "FAIL") ??
		outcomes.find(({ status }) => status === "UNKNOWN") ??
		outcomes[0];
	if (!worst) return unknown("unrecognized_output");
	return desktops.length === 1
		? worst
		: {
				status: worst.status,
				evidence: { ...worst.evidence, desktops: desktops.length },
			};
}

async function readLock(host: Host, desktop: Desktop): Promise<FoundLock> {
	const person = await findPerson(host, desktop.uid);
	if (typeof person === "string") return { reason: person };
	switch (desktop.kind) {
		case "gnome":
		case "cinnamon":
		case "mate":
			return readGnomeLock(host, person, desktop.kind);
		case "kde":
			return readKdeLock(host, person);
		case "xfce":
			return desktop.processes.some(({ name }) => name === "xfce4-screensav")
				? readXfceLock(host, person)
				: readIdleLocker(host, person, desktop);
		case "cosmic":
		case "elementary":
		case "deepin":
		case "enlightenment":
			return { reason: "desktop_not_supported" };
		case "window-manager":
			return readIdleLocker(host, person, desktop);
	}
}

function judge(host: Host, { kind }: Desktop, lock: FoundLock): CheckOutcome {
	const desktop = { desktop: kind };
	if ("reason" in lock) return unknown(lock.reason, desktop);
	const { isEnabled, idleSeconds, delaySeconds, isEnforced, unclear } = lock;
	const evidence = {
		...desktop,
		lock_enabled: isEnabled,
		...(idleSeconds !== undefined && { idle_seconds: idleSeconds }),
		...(delaySeconds !== undefined && { lock_delay_seconds: delaySeconds }),
		...(isEnforced && { enforced: true }),
	};
	if (!isEnabled) return fail(evidence);
	if (idleSeconds === undefined) return unknown("timeout_not_known", evidence);
	// An idle time of zero means that the desktop never locks.
	const isSoon =
		idleSeconds > 0 &&
		idleSeconds + (delaySeconds ?? 0) <=
			host.threshold("max_lock_delay_seconds");
	if (isSoon) return pass(evidence);
	return unclear ? unknown(unclear, evidence) : fail(evidence);
}
