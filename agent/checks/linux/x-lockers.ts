import type { Host } from "../../host.ts";
import type { Person } from "./desktops.ts";
import { judgePlan, type Plan } from "./lock-plan.ts";
import type { FoundLock } from "./lock-settings.ts";
import { type Process, readArguments } from "./processes.ts";
import { readText } from "./read-text.ts";
import { parseCount } from "./settings.ts";

// Readers of the lockers for the X server. The lockers for Wayland are in idle-lockers.ts.

/**
 * Reads the settings of xautolock, which always locks. Its options are `-time` in minutes (10 by
 * default) and `-locker`.
 */
export async function readXautolock(
	host: Host,
	_person: Person,
	process: Process,
): Promise<FoundLock> {
	const words = await readArguments(host, process.pid);
	if (!words) return { reason: "command_line_not_readable" };
	const at = words.indexOf("-time");
	const minutes = at < 0 ? 10 : parseCount(words[at + 1]);
	const locker = words.indexOf("-locker");
	return minutes === undefined
		? { reason: "unrecognized_output" }
		: judgePlan({
				timeouts: [
					{
						seconds: minutes * 60,
						command: locker < 0 ? "xlock" : (words[locker + 1] ?? ""),
					},
				],
				onLock: undefined,
			});
}

/**
 * Reads the options of xidlehook: `--timer SECONDS COMMAND CANCELLER`. Each timer starts after the
 * one before it, so their seconds add up.
 */
export async function readXidlehook(
	host: Host,
	_person: Person,
	process: Process,
): Promise<FoundLock> {
	const words = await readArguments(host, process.pid);
	if (!words) return { reason: "command_line_not_readable" };
	const plan: Plan = { timeouts: [], onLock: undefined };
	let sum = 0;
	for (const [index, word] of words.entries()) {
		const seconds = parseCount(words[index + 1]);
		if (word !== "--timer" || seconds === undefined) continue;
		sum += seconds;
		plan.timeouts.push({ seconds: sum, command: words[index + 2] ?? "" });
	}
	return judgePlan(plan);
}

/**
 * Reads the settings of xscreensaver, such as `timeout: 0:10:00`, `lock: True` and `lockTimeout:
 * 0:00:00`. By default xscreensaver does not lock.
 */
export async function readXscreensaver(
	_host: Host,
	person: Person,
): Promise<FoundLock> {
	const file = await person.readFile(`${person.home}/.xscreensaver`);
	if (file.kind === "denied" || file.kind === "unreadable") {
		return { reason: "file_unreadable" };
	}
	const text = file.kind === "text" ? file.text : "";
	const value = (key: string, usual: string) =>
		new RegExp(`^${key}:[ \\t]*(\\S{1,20})`, "m").exec(text)?.[1] ?? usual;
	if (value("mode", "random") === "off") return { isEnabled: false };
	const idle = parseClock(value("timeout", "0:10:00"));
	const delay = parseClock(value("lockTimeout", "0:00:00"));
	if (idle === undefined || delay === undefined) {
		return { reason: "unrecognized_output" };
	}
	const isEnabled = value("lock", "False").toLowerCase() === "true";
	return { isEnabled, idleSeconds: idle, delaySeconds: delay };
}

function parseClock(text: string): number | undefined {
	const parts = /^(\d{1,3}):(\d\d):(\d\d)$/.exec(text)?.slice(1).map(Number);
	const [hours = 0, minutes = 0, seconds = 0] = parts ?? [];
	return parts && hours * 3600 + minutes * 60 + seconds;
}

/** Options of xss-lock that have a value. */
const XSS_VALUES = /^(-n|--notifier|-s|--session)$/;

/**
 * Reads the command that xss-lock starts when the X server blanks the screen: `xss-lock -l --
 * i3lock -n`.
 */
export async function readXssLock(
	host: Host,
	person: Person,
	process: Process,
): Promise<FoundLock> {
	const words = await readArguments(host, process.pid);
	if (!words) return { reason: "command_line_not_readable" };
	let at = 1;
	while (words[at]?.startsWith("-")) {
		const word = words[at] ?? "";
		at += XSS_VALUES.test(word) ? 2 : 1;
		if (word === "--") break;
	}
	const command = words.slice(at).join(" ");
	const lock = judgePlan({
		timeouts: [{ seconds: 0, command }],
		onLock: undefined,
	});
	if ("reason" in lock || !lock.isEnabled) return lock;
	return {
		isEnabled: true,
		idleSeconds: await readBlankSeconds(host, person, process),
	};
}

/**
 * Reads the delay of light-locker, which locks some seconds after the X server has blanked the
 * screen, or never if they are 0. Its option takes precedence over the user's setting.
 */
export async function readLightLocker(
	host: Host,
	person: Person,
	process: Process,
): Promise<FoundLock> {
	const words = await readArguments(host, process.pid);
	if (!words) return { reason: "command_line_not_readable" };
	const parts = words.flatMap((word) => word.split("="));
	const option = parts.lastIndexOf("--lock-after-screensaver");
	const delay =
		option < 0
			? await readLightLockerSetting(person)
			: parseCount(parts[option + 1]);
	if (delay === undefined) return { reason: "locker_settings_not_read" };
	if (delay === 0) return { isEnabled: false };
	return {
		isEnabled: true,
		idleSeconds: await readBlankSeconds(host, person, process),
		delaySeconds: delay,
	};
}

async function readLightLockerSetting(
	person: Person,
): Promise<number | undefined> {
	const text = await person.run("gsettings", [
		"get",
		"apps.light-locker",
		"lock-after-screensaver",
	]);
	return parseCount(/^(?:uint32 )?(\d{1,9})$/.exec(text?.trim() ?? "")?.[1]);
}

/**
 * Returns the seconds until the X server blanks the screen, or undefined if the server does not say.
 */
async function readBlankSeconds(
	host: Host,
	person: Person,
	process: Process,
): Promise<number | undefined> {
	const text = await readText(host, `/proc/${process.pid}/environ`);
	const entries = text?.split("\0") ?? [];
	const find = (name: string, form: RegExp) =>
		entries.find((entry) => entry.startsWith(`${name}=`) && form.test(entry));
	const display = find("DISPLAY", /^DISPLAY=:\d{1,3}(\.\d)?$/);
	if (!display) return undefined;
	const authority = find("XAUTHORITY", /^XAUTHORITY=\/[^\0]{1,200}$/);
	const shown = await person.run(
		"xset",
		["q"],
		[display, ...(authority ? [authority] : [])],
	);
	const seconds = /^[ \t]+timeout:[ \t]+(\d{1,9})[ \t]/m.exec(shown ?? "")?.[1];
	return seconds === undefined ? undefined : Number(seconds);
}
