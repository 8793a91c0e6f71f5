import type { Host } from "../../host.ts";

export interface Process {
	pid: number;
	uid: number;
	/** The name of the program, which the kernel cuts off after 15 characters. */
	name: string;
	/** True if the process runs in a container, which has a list of processes of its own. */
	isContained: boolean;
}

/**
 * Returns all processes of the device, read from /proc. Returns undefined if some are not visible,
 * for example to an ordinary user when /proc is mounted with `hidepid`. A check must not conclude
 * from an incomplete list that a program is not running.
 */
export async function findProcesses(
	host: Host,
): Promise<Process[] | undefined> {
	const folder = await host.listFolder("/proc");
	if (folder.kind !== "names") return undefined;
	const pids = folder.names.filter((name) => /^\d{1,10}$/.test(name));
	if (!pids.includes("1")) return undefined;
	const processes: Process[] = [];
	// The processes are read in portions, because a server has thousands of them.
	for (let from = 0; from < pids.length; from += 32) {
		const files = await Promise.all(
			pids.slice(from, from + 32).map(async (pid) => ({
				pid: Number(pid),
				file: await host.readFile(`/proc/${pid}/status`),
			})),
		);
		for (const { pid, file } of files) {
			// The process has ended in the meantime.
			if (file.kind === "missing" || file.kind === "unreadable") continue;
			if (file.kind === "denied") return undefined;
			const name = /^Name:\t(.{1,64})$/m.exec(file.text)?.[1];
			const uid = /^Uid:\t(\d{1,10})\t/m.exec(file.text)?.[1];
			if (name === undefined || uid === undefined) return undefined;
			// The line has one id for each list of processes that the process is in.
			const isContained = /^NSpid:\t\d+\t/m.test(file.text);
			processes.push({ pid, uid: Number(uid), name, isContained });
		}
	}
	return processes;
}

/** Matches the control groups of containers that a user starts without root. */
const CONTAINER =
	/libpod|podman|conmon|docker|containerd|kubepods|lxc|machine/i;

/**
 * Returns true if a process with a list of processes of its own is not in a container, but in the
 * sandbox of an app, such as that of Flatpak or Firejail. A sandboxed app can show the screen of
 * its user and use the network of the device. systemd runs it among the user's other programs.
 */
export async function isSandboxedApp(
	host: Host,
	pid: number,
): Promise<boolean> {
	const file = await host.readFile(`/proc/${pid}/cgroup`);
	if (file.kind !== "text") return false;
	return file.text
		.split("\n")
		.map((line) => /^\d{1,4}:[^:]{0,200}:(\/user\.slice\/.*)$/.exec(line)?.[1])
		.some((path) => path !== undefined && !CONTAINER.test(path));
}

/**
 * Returns the words of a process's command line. Because it may contain anything, callers only look
 * for words that they know.
 */
export async function readArguments(
	host: Host,
	pid: number,
): Promise<string[] | undefined> {
	const file = await host.readFile(`/proc/${pid}/cmdline`);
	if (file.kind !== "text" || file.text === "") return undefined;
	return file.text.replace(/\0$/, "").split("\0");
}
