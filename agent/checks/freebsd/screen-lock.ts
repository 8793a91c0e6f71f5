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

const DISPLAY_SERVERS =
	/^(Xorg|X|Xwayland|sway|labwc|wayfire|river|hikari|Hyprland|hyprland|niri|weston|kwin_wayland|kwin_x11|gnome-shell|cage|dwl)$/;
const LOGIN_SCREENS =
	/^(sddm-greeter|lightdm-gtk-greete|slick-greeter|ly-dm|xdm$|wdm$|gdm-)/;
/** Desktops that lock according to settings of the user, which this check does not read. */
const LOCKING_DESKTOPS =
	/^(gnome-shell|plasmashell|kwin_|cinnamon|mate-screensaver|xfce4-screensaver|ukui-screensaver)/;
const OTHER_LOCKERS =
	/^(xscreensaver|xss-lock|light-locker|xidle|xidlehook|hypridle|gnome-screensaver)$/;
const LOCK_COMMAND =
	/(^|[\s/'"])(swaylock|gtklock|waylock|hyprlock|i3lock|slock|xlock|xsecurelock|xtrlock|physlock|xscreensaver-command -lock)\b/;

/**
 * Checks if a running desktop locks when it is idle. The check judges xautolock and swayidle, whose
 * times are on their command line. Other lockers and the large desktops keep their times in
 * settings of the user, so the result is UNKNOWN. Returns FAIL if a display server runs but no
 * program that could lock it. Without a desktop the check does not apply, because the text console
 * never locks by itself.
 */
export async function checkScreenLock(host: Host): Promise<CheckOutcome> {
	const names = await findProgramNames(host);
	if (names === undefined)
		return unknown(host.isPrivileged ? "processes_not_readable" : "needs_root");
	const runs = (pattern: RegExp) =>
		[...names].find((name) => pattern.test(name));
	if (runs(DISPLAY_SERVERS) === undefined) return notApplicable("no_desktop");

	const locker = runs(/^(xautolock|swayidle)$/);
	if (locker !== undefined) return judgeCommandLine(host, locker);
	if (runs(LOCKING_DESKTOPS) !== undefined)
		return unknown("desktop_settings_not_read");
	const other = runs(OTHER_LOCKERS);
	if (other !== undefined)
		return unknown("locker_settings_not_read", { locker: other });
	if (runs(LOGIN_SCREENS) !== undefined) return unknown("nobody_logged_in");
	return fail({ lock_enabled: false, locker: "none" });
}

async function judgeCommandLine(
	host: Host,
	locker: string,
): Promise<CheckOutcome> {
	const listed = await runForText(host, "ps", [
		"-J",
		"0",
		"-ww",
		"-o",
		"args=",
	]);
	const lines = listed?.split("\n") ?? [];
	const line = lines.find(
		(each) =>
			each.length < 10_000 && /^(\S*\/)?(\w+)(\s|$)/.exec(each)?.[2] === locker,
	);
	if (line === undefined) return unknown("unrecognized_output", { locker });
	const seconds =
		locker === "xautolock" ? xautolockSeconds(line) : swayidleSeconds(line);
	if (seconds === undefined)
		return unknown("locker_settings_not_read", { locker });
	const evidence = { lock_enabled: true, locker, idle_seconds: seconds };
	return seconds <= host.threshold("max_lock_delay_seconds")
		? pass(evidence)
		: fail(evidence);
}

/**
 * Returns the idle time from xautolock's options: `-time` in minutes (10 by default) and `-locker`
 * (xlock by default).
 */
function xautolockSeconds(line: string): number | undefined {
	const option = " -locker ";
	const at = line.indexOf(option);
	if (at >= 0 && !LOCK_COMMAND.test(line.slice(at + option.length))) {
		return undefined;
	}
	const [, minutes] = / -time (\d{1,3})(?= |$)/.exec(line) ?? [];
	return / -time /.test(line) && minutes === undefined
		? undefined
		: Number(minutes ?? 10) * 60;
}

/**
 * Returns the shortest timeout of a lock command, such as `timeout 300 swaylock -f`. ps prints the
 * arguments without their quotes.
 */
function swayidleSeconds(line: string): number | undefined {
	const times = line
		.split(
			/ (?=(?:timeout|resume|before-sleep|after-resume|lock|unlock|idlehint) )/,
		)
		.map((part) => /^timeout (\d{1,6}) (.+)$/.exec(part))
		.filter((found) => LOCK_COMMAND.test(found?.[2] ?? ""))
		.map((found) => Number(found?.[1]));
	return times.length === 0 ? undefined : Math.min(...times);
}
