import type { Host } from "../../host.ts";

export interface Process {
	pid: number;
	uid: number;
	/** The program's name, cut off by the kernel after 15 characters. */
	name: string;
}

/**
 * All processes of the device, from /proc. Undefined when they cannot all be seen, as for an
 * ordinary user under `hidepid`, so that "it does not run" is never concluded from less.
 */
export async function findProcesses(
	host: Host,
): Promise<Process[] | undefined> {
	const folder = await host.listFolder("/proc");
	if (folder.kind !== "names") return undefined;
	const pids = folder.names.filter((name) => /^\d{1,10}$/.test(name));
	if (!pids.includes("1")) return undefined;
	const processes: Process[] = [];
	// Not all at once: a server has thousands.
	for (let from = 0; from < pids.length; from += 32) {
		const files = await Promise.all(
			pids.slice(from, from + 32).map(async (pid) => ({
				pid: Number(pid),
				file: await host.readFile(`/proc/${pid}/status`),
			})),
		);
		for (const { pid, file } of files) {
			// One that ended meanwhile.
			if (file.kind === "missing" || file.kind === "unreadable") continue;
			if (file.kind === "denied") return undefined;
			const name = /^Name:\t(.{1,64})$/m.exec(file.text)?.[1];
			const uid = /^Uid:\t(\d{1,10})\t/m.exec(file.text)?.[1];
			if (name === undefined || uid === undefined) return undefined;
			processes.push({ pid, uid: Number(uid), name });
		}
	}
	return processes;
}

/**
 * The words of a process's command line. Only what is known is taken from it, for it may hold
 * anything.
 */
export async function readArguments(
	host: Host,
	pid: number,
): Promise<string[] | undefined> {
	const file = await host.readFile(`/proc/${pid}/cmdline`);
	if (file.kind !== "text" || file.text === "") return undefined;
	return file.text.replace(/\0$/, "").split("\0");
}
