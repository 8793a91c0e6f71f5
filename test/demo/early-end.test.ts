import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isRunning } from "../support/child.ts";
import { makeFolder } from "../support/folder.ts";
import { demoFolders, postmasterOf, startDemo } from "./demonstration.ts";

let folder: string;
beforeAll(async () => {
	folder = await makeFolder("assay-test-");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * Ends a demonstration while it fills its database. Returns its exit code and output, its folder,
 * and its server's process.
 */
async function endWhileFilling(signal: NodeJS.Signals) {
	const others = demoFolders(folder);
	const child = startDemo(folder);
	if (!child.stderr) throw new Error("no standard error");
	const exit = once(child, "exit");
	const said: string[] = [];
	let [name, postmaster] = ["", 0];
	createInterface(child.stderr).on("line", (line) => {
		said.push(line);
		if (!line.startsWith("Filling")) return;
		name = demoFolders(folder).find((each) => !others.includes(each)) ?? "";
		postmaster = postmasterOf(join(folder, name));
		child.kill(signal);
	});
	const [code] = await exit;
	return { code: code as number | null, said, name, postmaster };
}

test("a killed demonstration leaves no folder and no database server", async () => {
	const { name, postmaster } = await endWhileFilling("SIGKILL");
	expect(name).not.toBe("");
	await expect
		.poll(() => demoFolders(folder), { interval: 200 })
		.not.toContain(name);
	expect(postmaster).toBeGreaterThan(0);
	expect(isRunning(postmaster)).toBe(false);
});

test("Ctrl-C during the start ends a demonstration with exit code 0 and leaves nothing either", async () => {
	const { code, said, name } = await endWhileFilling("SIGINT");
	expect(code, said.join("\n")).toBe(0);
	expect(name).not.toBe("");
	expect(demoFolders(folder)).not.toContain(name);
});
