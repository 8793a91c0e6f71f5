import type { FoundLock } from "./lock-settings.ts";

/** Matches the programs that lock the screen until the user enters the password. */
const LOCKER =
	/(^|[\s/;&|"'])(swaylock|gtklock|waylock|hyprlock|i3lock|i3lock-color|betterlockscreen|slock|xsecurelock|physlock|xlock|xtrlock|xscreensaver-command -lock|light-locker-command (-l|--lock)|dm-tool lock|xdg-screensaver lock)\b/;

/** Matches a command that asks another program to lock the screen. */
const ASKS_TO_LOCK = /\bloginctl lock-sessions?\b/;

/**
 * The timeouts with their commands, and the command that runs when the session is asked to lock.
 */
export interface Plan {
	timeouts: { seconds: number; command: string }[];
	onLock: string | undefined;
}

/** Returns when the first of the commands locks the screen. */
export function judgePlan({ timeouts, onLock }: Plan): FoundLock {
	const locks = (command: string) =>
		LOCKER.test(command) ||
		(ASKS_TO_LOCK.test(command) && LOCKER.test(onLock ?? ""));
	const first = Math.min(
		...timeouts
			.filter(({ command }) => locks(command))
			.map(({ seconds }) => seconds),
	);
	// An unknown command may be a script that locks the screen. Only commands that are known not to
	// lock prove anything.
	const isClear = timeouts.every(
		({ seconds, command }) => seconds >= first || isNoLocker(command),
	);
	if (first === Number.POSITIVE_INFINITY) {
		return isClear
			? { isEnabled: false }
			: { reason: "lock_command_not_recognized" };
	}
	return {
		isEnabled: true,
		idleSeconds: first,
		...(!isClear && { unclear: "lock_command_not_recognized" }),
	};
}

/** Returns true for commands that only turn the screen off, dim it, warn or suspend the machine. */
const isNoLocker = (command: string) =>
	/\b(dpms|output|brightnessctl|light|notify-send|systemctl (suspend|hibernate))\b/.test(
		command,
	) && !/lock|[;&|]/.test(command);
