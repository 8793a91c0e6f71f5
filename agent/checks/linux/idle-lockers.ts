import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { Host } from "../../host.ts";
import type { Desktop, Person } from "./desktops.ts";
import type { FoundLock, Lock } from "./lock-settings.ts";
import { type Process, readArguments } from "./processes.ts";
import { readText } from "./read-text.ts";
import { parseCount, parseSettings } from "./settings.ts";

/** Matches the programs that lock the screen until the user enters the password. */
const LOCKER =
	/(^|[\s/;&|"'])(swaylock|gtklock|waylock|hyprlock|i3lock|i3lock-color|betterlockscreen|slock|xsecurelock|physlock|xlock|xtrlock|xscreensaver-command -lock|light-locker-command (-l|--lock)|dm-tool lock|xdg-screensaver lock)\b/;

/** Matches a command that asks another program to lock the screen. */
const ASKS_TO_LOCK = /\bloginctl lock-sessions?\b/;

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
	"xss-lock": readXServer,
	"light-locker": readXServer,
	"xfce4-screensav": async () => ({ reason: "desktop_not_recognized" }),
	"lxqt-powermanag": async () => ({ reason: "locker_settings_not_read" }),
};

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
		const read = Object.hasOwn(READERS, process.name)
			? READERS[process.name]
			: undefined;
		const found = await read?.(host, person, process);
		if (!found) continue;
		if ("reason" in found) reason = found.reason;
		else if (isSooner(found, best)) best = found;
	}
	if (best?.isEnabled) return best;
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

/**
 * The timeouts with their commands, and the command that runs when the session is asked to lock.
 */
interface Plan {
	timeouts: { seconds: number; command: string }[];
	onLock: string | undefined;
}

function judgePlan({ timeouts, onLock }: Plan): FoundLock {
	const locks = (command: string) =>
		LOCKER.test(command) ||
		(ASKS_TO_LOCK.test(command) && LOCKER.test(onLock ?? ""));
	const seconds = timeouts
		.filter(({ command }) => locks(command))
		.map((timeout) => timeout.seconds);
	if (seconds.length > 0) {
		return { isEnabled: true, idleSeconds: Math.min(...seconds) };
	}
	// An unknown command may be a script that locks the screen. Only commands that are known not to
	// lock prove anything.
	return timeouts.every(({ command }) => isNoLocker(command))
		? { isEnabled: false }
		: { reason: "lock_command_not_recognized" };
}

/** Returns true for commands that only turn the screen off, dim it or suspend the machine. */
const isNoLocker = (command: string) =>
	/\b(dpms|output|brightnessctl|light|systemctl (suspend|hibernate))\b/.test(
		command,
	) && !/lock|[;&|]/.test(command);

async function readSwayidle(
	host: Host,
	person: Person,
	process: Process,
): Promise<FoundLock> {
	const words = await readArguments(host, process.pid);
	if (!words) return { reason: "command_line_not_readable" };
	const own = words.indexOf("-C");
	const paths =
		own > 0 && words[own + 1]?.startsWith("/")
			? [words[own + 1] ?? ""]
			: [
					`${person.home}/.config/swayidle/config`,
					`${person.home}/.swayidle/config`,
				];
	const all = [...words];
	for (const path of paths) {
		const file = await person.readFile(path);
		if (file.kind !== "text") continue;
		for (const line of file.text.split("\n")) all.push(...splitWords(line));
		break;
	}
	const plan: Plan = { timeouts: [], onLock: undefined };
	for (const [index, word] of all.entries()) {
		const [first, second] = [all[index + 1], all[index + 2]];
		const seconds = parseCount(first);
		if (word === "timeout" && seconds !== undefined && second !== undefined) {
			plan.timeouts.push({ seconds, command: second });
		}
		if (word === "lock") plan.onLock = first;
	}
	return judgePlan(plan);
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
 * Reads the settings of xautolock, which always locks. Its options are `-time` in minutes (10 by
 * default) and `-locker`.
 */
async function readXautolock(
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
async function readXidlehook(
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
async function readXscreensaver(
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

/**
 * Reads the time of lockers that lock when the X server blanks the screen. Only the X server knows
 * that time.
 */
async function readXServer(
	host: Host,
	person: Person,
	process: Process,
): Promise<FoundLock> {
	const text = await readText(host, `/proc/${process.pid}/environ`);
	const entries = text?.split("\0") ?? [];
	const find = (name: string, form: RegExp) =>
		entries.find((entry) => entry.startsWith(`${name}=`) && form.test(entry));
	const display = find("DISPLAY", /^DISPLAY=:\d{1,3}(\.\d)?$/);
	if (!display) return { isEnabled: true };
	const authority = find("XAUTHORITY", /^XAUTHORITY=\/[^\0]{1,200}$/);
	const shown = await person.run(
		"xset",
		["q"],
		[display, ...(authority ? [authority] : [])],
	);
	const seconds = /^[ \t]+timeout:[ \t]+(\d{1,9})[ \t]/m.exec(shown ?? "")?.[1];
	return seconds === undefined
		? { isEnabled: true }
		: { isEnabled: true, idleSeconds: Number(seconds) };
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
