import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { CommandResult, Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { whyFailed } from "../failed-command.ts";
import {
	type Preferences,
	readNumber,
	readPreferences,
	readSwitch,
} from "./preferences.ts";

const FORCED = "/Library/Managed Preferences/com.apple.screensaver.plist";

/**
 * Checks how soon the screen locks. A Mac asks for the password a certain delay after the screen
 * saver starts or the display turns off, whichever comes first. That time plus the delay must be
 * within the threshold. The default time of the screen saver differs between versions, so if
 * nobody has set it, only the display counts. The settings are those of the user at the screen,
 * unless a profile forces them.
 */
export async function checkScreenLock(host: Host): Promise<CheckOutcome> {
	const managed = await readPreferences(host, FORCED);
	const forced: Preferences = managed.known ? managed.values : new Map();
	const asUser = await runAsConsoleUser(host);

	const delay = forcedDelay(forced) ?? (await askDelay(host, asUser));
	if (delay === "off") return fail({ lock_enabled: false });
	if (typeof delay !== "number") return unknown(delay.reason);

	const saver =
		readNumber(forced, "idleTime") ?? (await askSaverSeconds(asUser));
	const display = await askDisplaySeconds(host);
	const evidence = {
		lock_enabled: true,
		lock_delay_seconds: delay,
		...(saver === undefined ? {} : { screen_saver_seconds: saver }),
		...(display === undefined ? {} : { display_off_seconds: display }),
		managed: forced.size > 0,
	};
	const idle = soonest(saver, display);
	const after = idle === undefined ? {} : { idle_seconds: idle + delay };
	if (
		idle !== undefined &&
		idle + delay <= host.threshold("max_lock_delay_seconds")
	) {
		return pass({ ...evidence, ...after });
	}
	if (saver === undefined || display === undefined) {
		return unknown("idle_time_not_known", evidence);
	}
	return fail({ ...evidence, ...after });
}

/**
 * Returns the shortest of the times. Zero means never, both for the screen saver and for the
 * display.
 */
function soonest(...seconds: (number | undefined)[]): number | undefined {
	const set = seconds.filter((value) => value !== undefined && value > 0);
	return set.length === 0 ? undefined : Math.min(...(set as number[]));
}

function forcedDelay(forced: Preferences): number | "off" | undefined {
	const asks = readSwitch(forced, "askForPassword");
	if (asks === undefined) return undefined;
	return asks ? (readNumber(forced, "askForPasswordDelay") ?? 0) : "off";
}

type RunAsUser = (
	program: string,
	args: readonly string[],
) => Promise<CommandResult | undefined>;

/**
 * Returns a function that runs programs in the session of the user at the screen, because root's
 * own settings say nothing about that user. The function returns undefined if nobody is signed in
 * at the screen. Without root, it runs programs as the agent's own user.
 */
async function runAsConsoleUser(host: Host): Promise<RunAsUser> {
	if (!host.isPrivileged) return (program, args) => host.run(program, args);
	const { stdout } = await host.run("stat", ["-f", "%u", "/dev/console"]);
	const [user] = /^\d{1,10}(?=\n?$)/.exec(stdout) ?? [];
	// While the sign-in window is shown, the console belongs to root.
	if (user === undefined || Number(user) < 500) return async () => undefined;
	return (program, args) =>
		host.run("launchctl", [
			"asuser",
			user,
			"sudo",
			"-n",
			"-H",
			"-u",
			`#${user}`,
			program,
			...args,
		]);
}

/**
 * Asks `sysadminctl` for the delay. It answers on standard error, after the date and its process
 * id, with "screenLock delay is immediate", "screenLock delay is 300 seconds" or "screenLock is
 * off". A delay of -1 seconds also means off.
 */
async function askDelay(
	host: Host,
	asUser: RunAsUser,
): Promise<number | "off" | { reason: Reason }> {
	const result = await asUser("sysadminctl", ["-screenLock", "status"]);
	if (result === undefined) return { reason: "no_console_user" };
	const said =
		/(?:^|\] ?)screenLock (?:is (off)|delay is (?:(immediate)|(-?\d{1,9})(?:\.\d+)? seconds?))\s*$/m.exec(
			`${result.stderr}\n${result.stdout}`,
		);
	if (said === null) {
		return { reason: whyFailed(result, host) ?? "unrecognized_output" };
	}
	const seconds = said[2] === undefined ? Number(said[3]) : 0;
	return said[1] === "off" || seconds < 0 ? "off" : seconds;
}

/**
 * Returns the seconds until the screen saver starts, or undefined if the user has never set them.
 */
async function askSaverSeconds(asUser: RunAsUser): Promise<number | undefined> {
	const result = await asUser("defaults", [
		"-currentHost",
		"read",
		"com.apple.screensaver",
		"idleTime",
	]);
	if (result === undefined || result.exitCode !== 0) return undefined;
	const [seconds] = /^\d{1,9}(?=\n?$)/.exec(result.stdout) ?? [];
	return seconds === undefined ? undefined : Number(seconds);
}

/**
 * Returns the seconds until the display turns off, the longest time of all power sources. Returns 0
 * if the display stays on with one of them.
 */
async function askDisplaySeconds(host: Host): Promise<number | undefined> {
	const { stdout } = await host.run("pmset", ["-g", "custom"]);
	const minutes = [...stdout.matchAll(/^ displaysleep\s+(\d{1,6})\s*$/gm)].map(
		([, value]) => Number(value),
	);
	if (minutes.length === 0) return undefined;
	return minutes.includes(0) ? 0 : Math.max(...minutes) * 60;
}
