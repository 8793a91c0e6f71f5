import type { Host } from "../../host.ts";
import { daysSince } from "../patch-age.ts";

/** The databases of rpm. They change when packages are installed. */
const RPM = [
	"/var/lib/rpm/rpmdb.sqlite",
	"/var/lib/rpm/Packages",
	"/usr/lib/sysimage/rpm/rpmdb.sqlite",
	"/usr/lib/sysimage/rpm/Packages.db",
];

/**
 * The first file changes after a search that reached a source of packages (with the package
 * update-notifier-common). The folder changes when a search brings a new list. apt's own
 * `update-stamp` does not count: apt-get exits with 0 when it reaches no source at all, and the
 * daily job then changes the stamp too (seen with apt 2.6 without a network).
 */
const APT = [
	"/var/lib/apt/periodic/update-success-stamp",
	"/var/lib/apt/lists",
];

/** ostree changes the time of this folder with each deployment. */
const OSTREE = ["/ostree/deploy"];

/**
 * Files that change when a mechanism searches for updates with success, or installs them. Only
 * those of the mechanism itself count, because another one may work while it does not: on Ubuntu,
 * snapd refreshes itself also when apt finds nothing.
 */
export const STAMPS: Record<string, readonly string[]> = {
	"unattended-upgrades": APT,
	mintupdate: APT,
	"dnf-automatic": RPM,
	"yum-cron": RPM,
	"transactional-update": RPM,
	"os-update": RPM,
	"yast-online-update": RPM,
	"rpm-ostree": OSTREE,
	bootc: OSTREE,
	zincati: OSTREE,
	uupd: OSTREE,
	"ublue-update": OSTREE,
	"nixos-upgrade": ["/nix/var/nix/profiles/system"],
	"update-engine": ["/var/lib/update_engine/prefs/previous-version"],
	"systemd-sysupdate": ["/var/lib/sysupdate"],
	snapd: ["/var/lib/snapd/snaps", "/var/cache/snapd/names"],
};

/** The folders in which dnf keeps the metadata of each source of packages. */
const DNF_CACHES = ["/var/cache/dnf", "/var/cache/libdnf5"];

/** Largest number of files whose times are read. No sensible device has so many sources. */
const MAX_FILES = 200;

/** Returns the arguments with which stat prints the times of a mechanism's files. */
export const searchStampArgs = (
	mechanism: string,
	more: readonly string[] = [],
): string[] => ["-c", "%Y", ...(STAMPS[mechanism] ?? []), ...more];

/**
 * Returns the days since the newest stamp of a mechanism, or undefined if there is none. dnf has no
 * single file that tells of a search that succeeded, so the files that it received count.
 */
export async function findSearchDays(
	host: Host,
	mechanism: unknown,
): Promise<number | undefined> {
	if (typeof mechanism !== "string" || !Object.hasOwn(STAMPS, mechanism)) {
		return undefined;
	}
	const received =
		mechanism === "dnf-automatic" ? await findDnfMetadata(host) : [];
	// stat exits with 1, because some of the files are missing.
	const { stdout } = await host.run(
		"stat",
		searchStampArgs(mechanism, received),
	);
	const times = stdout
		.split("\n")
		.filter((line) => /^\d{9,11}$/.test(line))
		.map((line) => daysSince(Number(line) * 1000, host.now))
		.filter((days) => days !== undefined);
	return times.length > 0 ? Math.min(...times) : undefined;
}

/**
 * Returns the files that dnf received from its sources of packages. dnf 5 keeps everything of a
 * source in the source's own folder, so only these files show that it has searched.
 */
export async function findDnfMetadata(host: Host): Promise<string[]> {
	const files: string[] = [];
	for (const cache of DNF_CACHES) {
		const sources = await host.listFolder(cache);
		for (const source of sources.kind === "names" ? sources.names : []) {
			const folder = `${cache}/${source}/repodata`;
			const listed = await host.listFolder(folder);
			if (listed.kind !== "names") continue;
			files.push(...listed.names.map((name) => `${folder}/${name}`));
			if (files.length >= MAX_FILES) return files.slice(0, MAX_FILES);
		}
	}
	return files;
}
