import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { firstLine } from "./child.ts";

const run = (script: string) => spawn("sh", ["-c", script]);

test("the first line of a child's output is returned while the child continues to run", async () => {
	const child = run("echo ready; echo more; sleep 600");
	expect(await firstLine(child)).toBe("ready");
	expect(child.exitCode).toBe(null);
	child.kill("SIGKILL");
});

test("a child that ends without a line is an error at once, with its exit code and output", async () => {
	const child = run("printf half; echo why >&2; exit 7");
	await expect(firstLine(child)).rejects.toThrow(
		/ended with 7 .*: (halfwhy|why\nhalf)/,
	);
});

test("a child that ends is an error even if another process keeps its output open", async () => {
	const child = run("sleep 30 & echo $! >&2; exit 3");
	const failure = await firstLine(child).catch((error: Error) => error.message);
	expect(failure).toMatch(/ended with 3 .*: \d+\n$/);
	process.kill(Number(/(\d+)\n$/.exec(String(failure))?.[1]), "SIGKILL");
});

test("the error names a program that cannot be started", async () => {
	await expect(firstLine(spawn("/nowhere/program"))).rejects.toThrow(
		"/nowhere/program",
	);
});
