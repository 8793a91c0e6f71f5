import { createHash } from "node:crypto";
import type { Host } from "../../host.ts";
import type { Waiting } from "../../pending-updates.ts";
import { findDnfMetadata } from "./patch-stamps.ts";

/**
 * Time for apt or dnf to read its lists of packages. It leaves enough of the check's own time for
 * its other commands, so a slow device loses only the age of its updates.
 */
const TIMEOUT_MS = 6_000;

/** How to find the security updates that wait, from what the package manager has stored. */
interface Manager {
	/** Files that change with a search or an installation. */
	stamps: string[];
	/** Finds further files of this kind, whose names differ between devices. */
	findStamps?(host: Host): Promise<string[]>;
	command: string[];
	/** Returns the name of an update, or undefined if the line is about something else. */
	parse(line: string): string | undefined;
}

/** Simulates an installation. It uses the lists of the last search and does not ask the network. */
export const APT: Manager = {
	stamps: ["/var/lib/apt/lists", "/var/lib/dpkg/status"],
	command: [
		"apt-get",
		"--simulate",
		"-qq",
		"-o",
		"Debug::NoLocking=true",
		"dist-upgrade",
	],
	/**
	 * A line says `Inst openssl [3.0.15-1] (3.0.17-1 Debian-Security:12/stable-security [amd64])`.
	 * The name includes the version that is installed, so an installation begins a new wait.
	 */
	parse(line) {
		const match =
			/^Inst (\S{1,100}) \[(\S{1,80})\] \(\S+ ([^[\]]{1,300}) \[/.exec(line);
		return match && /security|ESM/i.test(match[3] ?? "")
			? `${match[1]} ${match[2]}`
			: undefined;
	},
};

/** Reads the advisories that dnf has stored (`-C`), without asking the network. */
export const DNF: Manager = {
	stamps: [
		"/var/cache/dnf",
		"/var/cache/libdnf5",
		"/var/lib/rpm/rpmdb.sqlite",
		"/usr/lib/sysimage/rpm/rpmdb.sqlite",
	],
	findStamps: findDnfMetadata,
	command: ["dnf", "-C", "-q", "updateinfo", "list", "--security"],
	/**
	 * dnf 4 says `FEDORA-2026-1a2b Important/Sec. openssl-3.2.2-1.fc40.x86_64`, and dnf 5 says
	 * `FEDORA-2026-1a2b security Important openssl-3.2.2-1.fc41.x86_64 2026-09-01 01:23:45`.
	 */
	parse(line) {
		const found =
			/^\S+ +(?:\S+\/)?Sec\. +(\S{1,200})$/.exec(line.trim()) ??
			/^\S+ +security +\S+ +(\S{1,200}) +\d{4}-/.exec(line.trim());
		return /^(.+)-[^-]+-[^-]+\.[a-z0-9_]+$/.exec(found?.[1] ?? "")?.[1];
	},
};

const MANAGERS: Record<string, Manager> = {
	"unattended-upgrades": APT,
	mintupdate: APT,
	"dnf-automatic": DNF,
	"yum-cron": DNF,
};

/**
 * Returns how many security updates wait, and since when the agent has known the oldest. Returns
 * undefined for a mechanism whose updates the agent cannot list.
 */
export async function findPendingPackages(
	host: Host,
	mechanism: unknown,
): Promise<Waiting | undefined> {
	if (typeof mechanism !== "string" || !Object.hasOwn(MANAGERS, mechanism)) {
		return undefined;
	}
	const { stamps, findStamps, command, parse } = MANAGERS[mechanism] as Manager;
	const [program = "", ...args] = command;
	const files = [...stamps, ...((await findStamps?.(host)) ?? [])];
	const { stdout } = await host.run("stat", stampArgs(files));
	return host.pendingSince({
		stamp: stampOf(stdout, host.now),
		async list() {
			const result = await host.run(program, args, { timeoutMs: TIMEOUT_MS });
			if (result.ended !== "exited" || result.exitCode !== 0) return undefined;
			return result.stdout
				.split("\n")
				.map(parse)
				.filter((name) => name !== undefined);
		},
	});
}

/** The arguments with which stat prints when these files changed. Some of them may be missing. */
export const stampArgs = (stamps: readonly string[]) => ["-c", "%Y", ...stamps];

/**
 * Returns a short text that changes with the times that stat printed, and once a day. No file is
 * sure to change whenever the list does, so the list is never older than a day.
 */
function stampOf(printed: string, now: Date): string | undefined {
	if (printed.trim() === "") return undefined;
	const times = createHash("sha256").update(printed).digest("hex");
	return `${now.toISOString().slice(0, 10)} ${times.slice(0, 32)}`;
}
