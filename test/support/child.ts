import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Longest wait in milliseconds for the rest of an ended child's output, because a process that the
 * child started may keep its pipes open.
 */
const DRAIN_MS = 1_000;

/**
 * Returns the first line that the child writes to standard output. If the child ends without one,
 * rejects at once with its exit code and everything that it printed.
 */
export async function firstLine(child: ChildProcess): Promise<string> {
	let printed = "";
	let stdout = "";
	const line = new Promise<string>((resolve) => {
		for (const stream of [child.stdout, child.stderr]) {
			stream?.setEncoding("utf8").on("data", (text: string) => {
				printed += text;
				if (stream === child.stdout) stdout += text;
				const end = stdout.indexOf("\n");
				if (end >= 0) resolve(stdout.slice(0, end));
			});
		}
	});
	const closed = once(child, "close");
	// Both events reject if the program cannot be started at all.
	const ended = once(child, "exit").then(async ([code, signal]) => {
		await Promise.race([closed, sleep(DRAIN_MS)]);
		const command = child.spawnargs.join(" ");
		throw new Error(
			`${command} ended with ${code ?? signal} and printed no line of output: ${printed}`,
		);
	});
	for (const late of [closed, ended]) late.catch(() => {});
	return Promise.race([line, ended]);
}

/**
 * Returns true while a process with this id runs. A process that has ended but was not collected
 * yet does not count.
 */
export function isRunning(pid: number): boolean {
	const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], {
		encoding: "utf8",
	});
	return stdout.trim() !== "" && !stdout.startsWith("Z");
}
