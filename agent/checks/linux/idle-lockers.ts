import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { Host } from "../../host.ts";
import type { Desktop, Person } from "./desktops.ts";
import { judgePlan, type Plan } from "./lock-plan.ts";
import type { FoundLock, Lock } from "./lock-settings.ts";
import { type Process, readArguments } from "./processes.ts";
import { readText } from "./read-text.ts";
import { parseCount, parseSettings } from "./settings.ts";
import {
	readLightLocker,
	readXautolock,
	readXidlehook,
	readXscreensaver,
	readXssLock,
} from "./x-lockers.ts";

type Reader = (
	host: Host,
	person: Person,
	process: Process,
) => Promise<FoundLock>;

/** Programs that lock a desktop which has no lock of its own. Each works only while it runs. */
const READERS: Record<string, Reader> = {
	swayidle: readSwayidle,
	hypridle: readHypridle,
	xautolock: readXautolock,
	xidlehook: readXidlehook,
	xscreensaver: readXscreensaver,
	"xss-lock": readXssLock,
	"light-locker": readLightLocker,
	"xfce4-screensav": async () => ({ reason: "desktop_not_recognized" }),
	"lxqt-powermanag": notRead,
	// Shells for window managers. Some of them bring a timer and a lock of their own.
	quickshell: notRead,
	qs: notRead,
	"noctalia-qs": notRead,
	noctalia: notRead,
	dms: notRead,
	ags: notRead,
};

async function notRead(): Promise<FoundLock> {
	return { reason: "locker_settings_not_read" };
}

/**
 * Finds the lock of a desktop that does not lock itself. If several lockers run for the desktop's
 * user, the one that locks first counts. If none runs, nothing locks the desktop.
 */
export async function readIdleLocker(
	host: Host,
	person: Person,
	desktop: Desktop,
): Promise<FoundLock> {
	let best: Lock | undefined;
	let reason: Reason | undefined;
	for (const process of desktop.processes) {
		// NixOS calls some programs `.quickshell-wrapped`. The kernel keeps only the first 15
		// characters.
		const name = process.name.replace(/^\.(.+)-w[raped]*$/, "$1");
		const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
		const found = await read?.(host, person, process);
		if (!found) continue;
		if ("reason" in found) {
			reason = found.reason;
			continue;
		}
		reason ??= found.unclear;
		if (isSooner(found, best)) best = found;
	}
	if (best?.isEnabled) return { ...best, unclear: reason };
	if (reason !== undefined) return { reason };
	return best ?? { isEnabled: false };
}

function isSooner(lock: Lock, than: Lock | undefined): boolean {
	if (!than || lock.isEnabled !== than.isEnabled) {
		return !than || lock.isEnabled;
	}
	const seconds = (one: Lock) => one.idleSeconds || Number.POSITIVE_INFINITY;
	return seconds(lock) < seconds(than);
}

/** The events of swayidle that start a command. Without any, it ends at once. */
const EVENTS = /^(timeout|before-sleep|after-resume|lock|unlock|idlehint)$/;

async function readSwayidle(
	host: Host,
	person: Person,
	process: Process,
): Promise<FoundLock> {
	const words = await readArguments(host, process.pid);
	if (!words) return { reason: "command_line_not_readable" };
	const file = await readSwayidleFile(host, person, process, words);
	const all = [...words.slice(1), ...(file ?? [])];
	const plan: Plan = { timeouts: [], onLock: undefined };
	for (const [index, word] of all.entries()) {
		const [first, second] = [all[index + 1], all[index + 2]];
		const seconds = parseCount(first);
		if (word === "timeout" && seconds !== undefined && second !== undefined) {
			plan.timeouts.push({ seconds, command: second });
		}
		if (word === "lock") plan.onLock = first;
	}
	const lock = judgePlan(plan);
	if ("reason" in lock) return lock;
	// With `idlehint`, systemd may send idle sessions the event `lock` (IdleAction of logind.conf).
	const mayBeAsked = all.includes("idlehint") && plan.onLock !== undefined;
	const isUnread = !file || !all.some((word) => EVENTS.test(word));
	if (!mayBeAsked && !isUnread) return lock;
	const reason = "locker_settings_not_read";
	return lock.isEnabled ? { ...lock, unclear: reason } : { reason };
}

/**
 * Returns the words in swayidle's file with settings, or none if it has no file. Returns undefined if
 * the file could not be read.
 */
async function readSwayidleFile(
	host: Host,
	person: Person,
	process: Process,
	words: string[],
): Promise<string[] | undefined> {
	const option = words.findIndex((word) => /^-[dw]*C/.test(word));
	const named =
		option < 0
			? undefined
			: words[option]?.replace(/^-[dw]*C/, "") || words[option + 1];
	const environment = await readText(host, `/proc/${process.pid}/environ`);
	const configHome =
		/(?:^|\0)XDG_CONFIG_HOME=(\/[^\0]{1,200})/.exec(environment ?? "")?.[1] ??
		`${person.home}/.config`;
	const paths =
		named === undefined
			? [
					`${configHome}/swayidle/config`,
					`${person.home}/.swayidle/config`,
					"/etc/swayidle/config",
				]
			: [named].filter((path) => path.startsWith("/"));
	for (const path of paths) {
		const file = await person.readFile(path);
		if (file.kind === "text") return file.text.split("\n").flatMap(splitWords);
		if (file.kind === "unreadable") return undefined;
	}
	return named === undefined ? [] : undefined;
}

async function readHypridle(host: Host, person: Person): Promise<FoundLock> {
	const own = await person.readFile(
		`${person.home}/.config/hypr/hypridle.conf`,
	);
	const text =
		own.kind === "text"
			? own.text
			: await readText(host, "/etc/xdg/hypr/hypridle.conf");
	if (text === undefined) return { reason: "file_unreadable" };
	const plan: Plan = { timeouts: [], onLock: undefined };
	for (const block of text.split("}")) {
		const settings = parseSettings(block.replaceAll(/(^|\s)#.*/g, ""));
		plan.onLock = settings.get("lock_cmd") ?? plan.onLock;
		const seconds = parseCount(settings.get("timeout"));
		const command = settings.get("on-timeout");
		if (/\blistener\s*\{/.test(block) && seconds !== undefined && command) {
			plan.timeouts.push({ seconds, command });
		}
	}
	return judgePlan(plan);
}

/**
 * Splits a line into words at blanks and quotes, as a shell does. Other rules of the shell do not
 * apply.
 */
function splitWords(line: string): string[] {
	if (line.trimStart().startsWith("#")) return [];
	return [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
		([, double, single, plain]) => double ?? single ?? plain ?? "",
	);
}
