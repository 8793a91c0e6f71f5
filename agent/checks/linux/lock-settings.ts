import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { Host } from "../../host.ts";
import type { Person } from "./desktops.ts";
import { parseCount, parseSettings, parseSwitch } from "./settings.ts";

/** The settings that make a desktop lock itself when nobody uses it. */
export interface Lock {
	isEnabled: boolean;
	/**
	 * Seconds without input until the desktop is idle. 0 means never. Undefined if the desktop locks
	 * at an unknown time.
	 */
	idleSeconds?: number | undefined;
	/** Seconds between becoming idle and being locked. */
	delaySeconds?: number;
	/** True if the administrator has fixed the settings so that the user cannot change them. */
	isEnforced?: boolean;
	/** The reason why the desktop may lock sooner than that. */
	unclear?: Reason | undefined;
}

/** A lock, or the reason why it is not known. */
export type FoundLock = Lock | { reason: Reason };

/** Desktops that are built from GNOME's parts have the same settings under other names. */
const SCHEMAS = {
	gnome: {
		session: "org.gnome.desktop.session",
		saver: "org.gnome.desktop.screensaver",
		lockdown: "org.gnome.desktop.lockdown",
		// The number of seconds in one unit of idle-delay and of lock-delay.
		units: [1, 1],
	},
	cinnamon: {
		session: "org.cinnamon.desktop.session",
		saver: "org.cinnamon.desktop.screensaver",
		lockdown: "org.cinnamon.desktop.lockdown",
		units: [1, 1],
	},
	mate: {
		session: "org.mate.session",
		saver: "org.mate.screensaver",
		lockdown: "org.mate.lockdown",
		units: [60, 60],
	},
} as const;

export async function readGnomeLock(
	host: Host,
	person: Person,
	kind: keyof typeof SCHEMAS,
): Promise<FoundLock> {
	const { session, saver, lockdown, units } = SCHEMAS[kind];
	const values = new Map<string, string>();
	for (const schema of [session, saver, lockdown]) {
		const text = await person.run("gsettings", ["list-recursively", schema]);
		// A desktop may lack the lockdown schema, which holds what the administrator has forbidden.
		if (text === undefined && schema !== lockdown)
			return { reason: "command_failed" };
		for (const line of (text ?? "").split("\n")) {
			const [at, key, ...rest] = line.split(" ");
			// gsettings prints some numbers with their type, such as `uint32 300`.
			if (at === schema && key) values.set(key, rest.at(-1) ?? "");
		}
	}
	const isEnabled = parseSwitch(values.get("lock-enabled"));
	const idle = parseCount(values.get("idle-delay"));
	const delay = parseCount(values.get("lock-delay"));
	if (isEnabled === undefined || idle === undefined || delay === undefined) {
		return { reason: "unrecognized_output" };
	}
	const activates = values.get("idle-activation-enabled") !== "false";
	const forbidden = values.get("disable-lock-screen") === "true";
	const isEnforced = kind === "gnome" && (await hasDconfLocks(host));
	return {
		// GNOME itself ignores idle-activation-enabled in current versions. The other desktops obey it.
		isEnabled: isEnabled && !forbidden && (activates || kind === "gnome"),
		idleSeconds: idle * units[0],
		delaySeconds: delay * units[1],
		...(isEnforced && { isEnforced }),
	};
}

const LOCKED_KEYS = [
	"/org/gnome/desktop/session/idle-delay",
	"/org/gnome/desktop/screensaver/lock-enabled",
	"/org/gnome/desktop/screensaver/lock-delay",
];

/**
 * Returns true if the administrator's dconf databases prevent users from changing the settings
 * above.
 */
async function hasDconfLocks(host: Host): Promise<boolean> {
	const databases = await host.listFolder("/etc/dconf/db");
	if (databases.kind !== "names") return false;
	const locked = new Set<string>();
	for (const name of databases.names) {
		if (!/^[\w-]+\.d$/.test(name)) continue;
		const folder = `/etc/dconf/db/${name}/locks`;
		const files = await host.listFolder(folder);
		for (const file of files.kind === "names" ? files.names : []) {
			const locks = await host.readFile(`${folder}/${file}`);
			if (locks.kind !== "text") continue;
			for (const line of locks.text.split("\n")) locked.add(line.trim());
		}
	}
	return LOCKED_KEYS.every((key) => locked.has(key));
}

/**
 * KDE's own defaults. The screen locks after five minutes, and five seconds later it needs a
 * password.
 */
const KDE_DEFAULTS = {
	Autolock: "true",
	Timeout: "5",
	LockGrace: "5",
	// Both are hidden settings. Without them the screen would be covered and open without a password.
	RequirePassword: "true",
	Lock: "true",
};

export async function readKdeLock(
	host: Host,
	person: Person,
): Promise<FoundLock> {
	const layers: Map<string, string>[] = [];
	for (const file of [
		await host.readFile("/etc/xdg/kscreenlockerrc"),
		await person.readFile(`${person.home}/.config/kscreenlockerrc`),
	]) {
		if (file.kind === "denied" || file.kind === "unreadable") {
			return { reason: "file_unreadable" };
		}
		layers.push(parseSettings(file.kind === "text" ? file.text : ""));
	}
	const [system, own] = layers;
	// The suffix [$i] fixes a setting, or a whole section, so that users cannot change it.
	const isFixed = (key: string) =>
		system?.has(`Daemon/${key}[$i]`) || system?.has(`Daemon][$i/${key}`);
	const value = (key: keyof typeof KDE_DEFAULTS) => {
		const fixed =
			system?.get(`Daemon/${key}[$i]`) ?? system?.get(`Daemon][$i/${key}`);
		return (
			fixed ??
			own?.get(`Daemon/${key}`) ??
			system?.get(`Daemon/${key}`) ??
			KDE_DEFAULTS[key]
		);
	};
	const switches = (["Autolock", "RequirePassword", "Lock"] as const).map(
		(key) => parseSwitch(value(key)),
	);
	const minutes = parseDecimal(value("Timeout"));
	const grace = parseCount(value("LockGrace"));
	if (
		switches.includes(undefined) ||
		minutes === undefined ||
		grace === undefined
	) {
		return { reason: "unrecognized_output" };
	}
	return {
		isEnabled: !switches.includes(false),
		idleSeconds: Math.round(minutes * 60),
		delaySeconds: grace,
		...(isFixed("Autolock") && isFixed("Timeout") && { isEnforced: true }),
	};
}

/** KDE stores the minutes as a decimal number. */
const parseDecimal = (text: string): number | undefined =>
	/^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;

const XFCE_FILE = "xfce4/xfconf/xfce-perchannel-xml/xfce4-screensaver.xml";

/**
 * Reads the settings of xfce4-screensaver. By default it blanks the screen after five minutes and
 * locks it at once.
 */
export async function readXfceLock(
	host: Host,
	person: Person,
): Promise<FoundLock> {
	const values = new Map<string, string>();
	for (const file of [
		await host.readFile(`/etc/xdg/${XFCE_FILE}`),
		await person.readFile(`${person.home}/.config/${XFCE_FILE}`),
	]) {
		if (file.kind === "denied" || file.kind === "unreadable") {
			return { reason: "file_unreadable" };
		}
		if (file.kind !== "text") continue;
		const found = parseXfconf(file.text);
		if (!found) return { reason: "unrecognized_output" };
		for (const [key, value] of found) values.set(key, value);
	}
	const isOn = (key: string) => parseSwitch(values.get(key) ?? "true");
	const switches = [
		"saver/enabled",
		"saver/idle-activation/enabled",
		"lock/enabled",
		"lock/saver-activation/enabled",
	].map(isOn);
	const idle = parseCount(values.get("saver/idle-activation/delay") ?? "5");
	const delay = parseCount(values.get("lock/saver-activation/delay") ?? "0");
	if (
		switches.includes(undefined) ||
		idle === undefined ||
		delay === undefined
	) {
		return { reason: "unrecognized_output" };
	}
	return {
		isEnabled: !switches.includes(false),
		idleSeconds: idle * 60,
		delaySeconds: delay * 60,
	};
}

/**
 * Returns the values of an xfconf channel by the path of their names. Returns undefined if the text
 * is not such a channel.
 */
function parseXfconf(text: string): Map<string, string> | undefined {
	if (!text.includes('<channel name="xfce4-screensaver"')) return undefined;
	const values = new Map<string, string>();
	const path: string[] = [];
	for (const [, end, attributes = ""] of text.matchAll(
		/<(\/?)property\b([^<>]{0,500})>/g,
	)) {
		if (end) {
			path.pop();
			continue;
		}
		path.push(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? "");
		const value = /\bvalue="([^"]*)"/.exec(attributes)?.[1];
		if (value !== undefined && path.length <= 8)
			values.set(path.join("/"), value);
		if (attributes.endsWith("/")) path.pop();
	}
	return values;
}
