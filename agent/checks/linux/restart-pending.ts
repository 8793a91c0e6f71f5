import type { Host } from "../../host.ts";
import { type CheckOutcome, fail } from "../check.ts";
import { daysSince } from "../patch-age.ts";
import { readLine } from "./read-text.ts";

/**
 * Files of Debian and Ubuntu, of SUSE, and of ostree, which exist while an installed update waits
 * for a restart. They are gone after it, because /run is in memory. ostree uses a staged deployment
 * from the next start on. A later update writes most of the files again, so the restart may have
 * been due for longer than their time says.
 */
const FLAGS = [
	"/run/reboot-required",
	"/run/reboot-needed",
	"/run/ostree/staged-deployment",
];

const KERNELS = "/usr/lib/modules";

/** Largest number of kernels that are looked at. */
const MAX_KERNELS = 50;

/**
 * Adds to an outcome for how many days installed updates have waited for a restart, and makes it
 * FAIL if they have waited for longer than an update may. A kernel that is patched while it runs
 * may have these updates without a restart, so its device does not fail.
 */
export async function judgePendingRestart(
	host: Host,
	outcome: CheckOutcome,
): Promise<CheckOutcome> {
	const days = await findPendingRestart(host);
	if (days === undefined) return outcome;
	const live = await host.listFolder("/sys/kernel/livepatch");
	const isPatchedLive = live.kind === "names" && live.names.length > 0;
	const { reason, ...found } = outcome.evidence;
	const evidence = {
		...found,
		restart_pending_days: days,
		...(isPatchedLive && { live_patches: true }),
	};
	const isLate = !isPatchedLive && days > host.threshold("max_patch_age_days");
	return isLate && outcome.status !== "FAIL"
		? fail({
				...evidence,
				patches_current: false,
				overdue: "restart_pending_days",
			})
		: {
				status: outcome.status,
				evidence: { ...(reason !== undefined && { reason }), ...evidence },
			};
}

/**
 * Returns the days for which a restart has been due, or undefined if none is due. The days count
 * from when the agent first saw this, or from an earlier time if a file proves it.
 */
async function findPendingRestart(host: Host): Promise<number | undefined> {
	const result = await host.run(
		"stat",
		restartStampArgs(await findNewerKernels(host)),
	);
	if (result.ended !== "exited") return undefined;
	const started = await findStartTime(host);
	const times: number[] = [];
	for (const line of result.stdout.split("\n")) {
		const [, modified, changed, path = ""] =
			/^(\d{9,11}) (\d{9,11}) (\/\S{1,300})$/.exec(line) ?? [];
		// Packages give files the time when they were built. `changed` is when they were installed.
		if (FLAGS.includes(path)) times.push(Number(modified) * 1000);
		else if (started !== undefined && Number(changed) * 1000 > started)
			times.push(Number(changed) * 1000);
	}
	const isDue = times.length > 0;
	const start = await readLine(host, "/proc/sys/kernel/random/boot_id");
	const noted = await host.pendingSince({
		notes: "restart",
		stamp: `${start} ${isDue}`,
		// The name changes with each start, so a restart is never older than the start.
		list: async () => (isDue ? [start ?? "restart"] : []),
	});
	if (!isDue) return undefined;
	return daysSince(
		Math.min(noted?.since ?? host.now.getTime(), ...times),
		host.now,
	);
}

/** Arguments of stat that print the times of the files that show that a restart is due. */
export const restartStampArgs = (kernels: readonly string[] = []) => [
	"-c",
	"%Y %Z %n",
	...FLAGS,
	// depmod changes the folder and most of its files later, but not this one.
	...kernels.map((kernel) => `${KERNELS}/${kernel}/modules.builtin`),
];

/** Returns the time when the device was started, in milliseconds from 1970. */
async function findStartTime(host: Host): Promise<number | undefined> {
	const uptime = /^(\d{1,10})\.\d+ /.exec(
		(await readLine(host, "/proc/uptime")) ?? "",
	)?.[1];
	return uptime === undefined
		? undefined
		: host.now.getTime() - Number(uptime) * 1000;
}

/** Returns the installed kernels that are newer than the running one, and of the same kind. */
async function findNewerKernels(host: Host): Promise<string[]> {
	const running = parseKernel(
		await readLine(host, "/proc/sys/kernel/osrelease"),
	);
	const installed = await host.listFolder(KERNELS);
	if (!running || installed.kind !== "names") return [];
	return installed.names
		.filter((name) => {
			const kernel = parseKernel(name);
			return (
				kernel?.kind === running.kind &&
				isNewer(kernel.numbers, running.numbers)
			);
		})
		.slice(-MAX_KERNELS);
}

/**
 * Parses `6.8.0-51-generic`, `6.11.4-301.fc41.x86_64` or `5.14.0-503.11.1.el9_5.x86_64`. The kind is
 * the text after the numbers, without the number of a release of Fedora or RHEL.
 */
function parseKernel(
	name: string | undefined,
): { numbers: number[]; kind: string } | undefined {
	const text = name ?? "";
	const version = /^\d{1,6}(?:[.-]\d{1,8}){1,7}/.exec(text)?.[0];
	const rest = text.slice(version?.length);
	return version === undefined ||
		!/^(?:[+._a-zA-Z-][\w.+~-]{0,100})?$/.test(rest)
		? undefined
		: {
				numbers: version.split(/[.-]/).map(Number),
				kind: rest.replace(/\.fc\d+/, ".fc").replace(/(\.el\d+)_\d+/, "$1"),
			};
}

function isNewer(numbers: number[], than: number[]): boolean {
	for (const [index, number] of numbers.entries()) {
		const other = than[index] ?? 0;
		if (number !== other) return number > other;
	}
	return false;
}
