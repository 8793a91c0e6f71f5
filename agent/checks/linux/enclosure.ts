import type { Host } from "../../host.ts";
import { readMounts } from "./mounts.ts";
import { readLine, readText } from "./read-text.ts";

/**
 * Returns which outer system owns the disk, the clock and the updates of this Linux: a container
 * engine or the Windows Subsystem for Linux. A virtual machine counts as a separate machine.
 */
export async function findEnclosure(
	host: Host,
): Promise<"container" | "wsl" | undefined> {
	const root = (await readMounts(host))?.find((mount) => mount.target === "/");
	// The marker file alone proves nothing, because some machines' disks are made from container
	// images.
	if (root && /^(overlay|aufs|fuse\.fuse-overlayfs)$/.test(root.type)) {
		for (const mark of ["/.dockerenv", "/run/.containerenv"]) {
			if ((await host.readFile(mark)).kind !== "missing") return "container";
		}
	}
	const kernel = await readLine(host, "/proc/sys/kernel/osrelease");
	if (kernel && /microsoft/i.test(kernel)) return "wsl";
	if (await readLine(host, "/run/systemd/container")) return "container";
	// LXC and container engines set this variable for the first process. Only root may read it.
	const environment = await readText(host, "/proc/1/environ");
	const isContained = environment
		?.split("\0")
		.some((entry) => /^container=./.test(entry));
	return isContained ? "container" : undefined;
}
