import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { ownProgram } from "../../agent/own-program.ts";
import { makeSystemHost } from "../../agent/system-host.ts";

// Code that the programs in namespaces share.

export const host = makeSystemHost(
	"LINUX",
	ownProgram([]),
	new AbortController().signal,
);

export const run = (program: string, args: string[], input = "") =>
	execFileSync(program, args, {
		input,
		encoding: "utf8",
		stdio: ["pipe", "pipe", "inherit"],
	});

/** Prints the verdict of a check about one case, and what the check read. */
export const print = (
	check: string,
	name: string,
	verdict: string,
	expected: string,
	read: object = {},
) => console.log(JSON.stringify({ check, name, verdict, expected, ...read }));

/** Gives the namespace the loopback and the interfaces eth0 and wlan0. */
export function makeInterfaces(): void {
	run("ip", ["link", "set", "lo", "up"]);
	run("ip", "link add eth0 type veth peer name wlan0".split(" "));
	run("ip", ["link", "set", "eth0", "up"]);
	run("ip", ["link", "set", "wlan0", "up"]);
}

/** Runs a program until `use` has ended. */
export async function whileRuns(
	program: string,
	args: string[],
	use: () => Promise<void>,
): Promise<void> {
	const child: ChildProcess = spawn(program, args, { stdio: "ignore" });
	const ended = new Promise((resolve) => child.once("exit", resolve));
	child.on("error", () => {});
	try {
		await sleep(1000);
		await use();
	} finally {
		child.kill();
		await Promise.race([ended, sleep(5000)]);
	}
}
