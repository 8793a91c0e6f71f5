import type { Host } from "../../host.ts";
import { daysSince } from "../patch-age.ts";

/**
 * Files that change when a search for updates succeeds, or when packages or the system's image are
 * installed. The newest one tells when the device last looked for updates with success.
 */
const STAMPS = [
	// apt's daily job, and the package update-notifier-common of Ubuntu.
	"/var/lib/apt/periodic/update-success-stamp",
	"/var/lib/apt/periodic/update-stamp",
	// dnf and yum, and the database of rpm.
	"/var/cache/dnf/last_makecache",
	"/var/lib/rpm/rpmdb.sqlite",
	"/var/lib/rpm/Packages",
	"/usr/lib/sysimage/rpm/rpmdb.sqlite",
	"/usr/lib/sysimage/rpm/Packages.db",
	// Systems that are installed as a whole.
	"/ostree/deploy",
	"/var/lib/update_engine/prefs/previous-version",
	"/nix/var/nix/profiles/system",
	"/var/lib/snapd/state.json",
	"/var/lib/sysupdate",
];

/** The command that prints the times of the stamps that exist, in seconds since 1970. */
export const STAMP_COMMAND = ["stat", "-c", "%Y", ...STAMPS] as const;

/** Returns the days since the newest stamp, or undefined if there is none. */
export async function findSearchDays(host: Host): Promise<number | undefined> {
	const [program, ...args] = STAMP_COMMAND;
	// stat exits with 1, because most of the files are missing.
	const { stdout } = await host.run(program, args);
	const times = stdout
		.split("\n")
		.filter((line) => /^\d{9,11}$/.test(line))
		.map((line) => daysSince(Number(line) * 1000, host.now))
		.filter((days) => days !== undefined);
	return times.length > 0 ? Math.min(...times) : undefined;
}
