import type { FileResult, Host } from "../../host.ts";
import { runForText } from "../run-for-text.ts";
import type { Process } from "./processes.ts";

export type DesktopKind =
	| "gnome"
	| "cinnamon"
	| "mate"
	| "kde"
	| "xfce"
	| "cosmic"
	| "elementary"
	| "deepin"
	| "enlightenment"
	| "window-manager";

/** The graphical session of one user. */
export interface Desktop {
	kind: DesktopKind;
	uid: number;
	/** The programs that the user runs. */
	processes: Process[];
}

/**
 * The program that displays each desktop. The check looks at processes and not at logind's
 * sessions, because logind reports a desktop that was started from a text console as a text
 * session.
 */
const SHELLS: [DesktopKind, RegExp][] = [
	["gnome", /^(gnome-shell|budgie-(wm|panel|desktop)|unity-panel-ser|phosh)$/],
	["cinnamon", /^(cinnamon|cinnamon-sessio)$/],
	["mate", /^mate-session$/],
	["kde", /^(plasmashell|kwin_wayland|kwin_x11|startplasma-(x11|way))$/],
	["xfce", /^xfce4-session$/],
	["cosmic", /^cosmic-(comp|session)$/],
	["elementary", /^(gala|io\.elementary\.w.*)$/],
	[
		"deepin",
		/^(dde-session|dde-desktop|dde-shell|startdde|kwin_deepin|deepin-kwin_x1|treeland)$/,
	],
	["enlightenment", /^enlightenment$/],
	[
		"window-manager",
		/^\.?((sway|Hyprland|hyprland|i3|niri|river|labwc|wayfire|weston|dwl|bspwm|awesome|openbox|fluxbox|icewm|dwm|qtile|herbstluftwm|lxqt-session|lxsession|Xorg)(-wrapp.*)?|xmonad.*)$/,
	],
];

/** Matches programs that show the login screen. They run whether or not somebody is logged in. */
export const LOGIN_SCREEN =
	/^(gdm3?|sddm|lightdm|lxdm|xdm|slim|ly|ly-dm|greetd|cosmic-greeter)$/;

/**
 * Matches programs that draw windows for a desktop. If one runs without a desktop or login screen
 * that the check knows, somebody uses a desktop that it does not know.
 */
export const DISPLAY_SERVER =
	/^\.?(gamescope|(Xorg|Xorg\.bin|X|Xwayland|Xephyr|cage|mango|hikari)(-wrapp|$))/;

/** GDM. GNOME Shell cannot lock the screen without it. */
export const GDM = /^\.?gdm3?(-.*)?$/;

/**
 * Returns the desktops in use, at most one for each user. System accounts are left out, because
 * they only show the login screen.
 */
export async function findDesktops(
	host: Host,
	processes: Process[],
): Promise<Desktop[]> {
	const byUid = new Map<number, Process[]>();
	for (const process of processes) {
		if (process.uid < FIRST_PERSON) continue;
		const own = byUid.get(process.uid) ?? [];
		own.push(process);
		byUid.set(process.uid, own);
	}
	const desktops: Desktop[] = [];
	for (const [uid, own] of byUid) {
		const kind = SHELLS.find(([, names]) =>
			own.some(({ name }) => names.test(name)),
		)?.[0];
		if (kind && (await isPerson(host, uid))) {
			desktops.push({ kind, uid, processes: own });
		}
	}
	return desktops;
}

const FIRST_PERSON = 1000;

/**
 * Returns false for a temporary user of systemd or of the login screen. The ids of these users come
 * from a range in which a directory may also have people, so the home folder decides.
 */
async function isPerson(host: Host, uid: number): Promise<boolean> {
	if (uid < 60_514 || uid > 65_535) return true;
	const line = await runForText(host, "getent", ["passwd", String(uid)]);
	const home = line?.trim().split(":")[5] ?? "";
	return home.length > 1 && !/^\/(run|var|nonexistent)(\/|$)/.test(home);
}

/** A user who is logged in, and how to run a program or read a file as that user. */
export interface Person {
	home: string;
	/** Reads a file with only this user's rights, wherever its path leads. */
	readFile(path: string): Promise<FileResult>;
	run(
		program: string,
		args: string[],
		environment?: string[],
	): Promise<string | undefined>;
}

/** Returns the user, or the reason why the agent may not read the user's settings. */
export async function findPerson(
	host: Host,
	uid: number,
): Promise<Person | "needs_root" | "account_not_found"> {
	if (!host.isPrivileged) {
		const own = (await runForText(host, "id", ["-u"]))?.trim();
		if (own !== String(uid)) return "needs_root";
	}
	const line = await runForText(host, "getent", ["passwd", String(uid)]);
	const fields = line?.trim().split(":") ?? [];
	const [name, , number, group, , home] = fields;
	if (
		fields.length !== 7 ||
		!name ||
		!/^[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,255}\$?$/.test(name) ||
		number !== String(uid) ||
		!/^\d{1,10}$/.test(group ?? "") ||
		!home?.startsWith("/")
	) {
		return "account_not_found";
	}
	return {
		home,
		readFile: (path) => host.readFileAs({ uid, gid: Number(group) }, path),
		run: (program, args, environment = []) => {
			if (!host.isPrivileged) {
				return environment.length === 0
					? runForText(host, program, args)
					: runForText(host, "env", [...environment, program, ...args]);
			}
			return runForText(host, "runuser", [
				"-u",
				name,
				"--",
				"env",
				`HOME=${home}`,
				`XDG_RUNTIME_DIR=/run/user/${uid}`,
				...environment,
				program,
				...args,
			]);
		},
	};
}
