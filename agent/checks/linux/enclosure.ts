import type { Host } from "../../host.ts";
import { readMounts } from "./mounts.ts";
import { readLine, readText } from "./read-text.ts";

/**
 * Whether this Linux runs inside another system whose disk, clock and updates are not its own:
 * a container, or the Windows Subsystem for Linux. A virtual machine counts as a machine.
 */
export async function findEnclosure(
	host: Host,
): Promise<"container" | "wsl" | undefined> {
	const root = (await readMounts(host))?.find((mount) => mount.target === "/");
	// The file alone proves nothing: disks of machines are made from images of containers.
	if (root && /^(overlay|aufs|fuse\.fuse-overlayfs)$/.test(root.type)) {
		for (const mark of ["/.dockerenv", "/run/.containerenv"]) {
			if ((await host.readFile(mark)).kind !== "missing") return "container";
		}
	}
	const kernel = await readLine(host, "/proc/sys/kernel/osrelease");
	if (kernel && /microsoft/i.test(kernel)) return "wsl";
	if (await readLine(host, "/run/systemd/container")) return "container";
	// Set by LXC and by container engines for the first process; only root may read it.
	const environment = await readText(host, "/proc/1/environ");
	const isContained = environment
		?.split("\0")
		.some((entry) => /^container=./.test(entry));
	return isContained ? "container" : undefined;
}
