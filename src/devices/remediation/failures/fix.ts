import type { CheckKey } from "../../terms.ts";

/** Advice for a check that fails. */
export interface Fix {
	/**
	 * The cause that this advice is for: the evidence has this field, with this value if one is
	 * given (or with a list that contains it). Advice without a cause is for all other failures and
	 * stands last.
	 */
	when?: { field: string; is?: boolean | string | number };
	/** True: only for a device without a desktop. False: only for others. */
	onServer?: boolean;
	/**
	 * Steps for the user. Commands for administrators stand in a line of their own. Names in
	 * braces stand for limits, which `withLimits` puts in.
	 */
	fix: string;
}

/** Returns a line with commands for administrators. */
export const commands = (text: string) => `\nAdministrators: ${text}`;

/** Advice for a device that lets people sign in over SSH with a password. */
export const SSH_KEYS =
	"Let people sign in over SSH with keys only. Write `PasswordAuthentication no`, `KbdInteractiveAuthentication no` and `PermitRootLogin prohibit-password` into sshd_config.";

/** Advice for a device that others can control from elsewhere. */
export const CLOSE_SERVICES =
	"Stop the open services that nobody needs: Telnet, rlogin, VNC, remote desktops and products for remote control. Reach those that you need through a VPN or SSH.";

/** What to do about each failing check of a platform. A check may be missing. */
export type Fixes = Partial<Record<CheckKey, readonly [...Fix[], Fix]>>;
