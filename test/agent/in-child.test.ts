import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runChecksInChild } from "../../agent/checks/in-child.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { makeAgentFolder } from "./folders.ts";

const never = new AbortController().signal;

/** A folder without an agent. The checks then judge by the defaults. */
const FOLDER = "/nonexistent";

/** Writes a Node program with this script. It runs in place of the checks. */
async function programThat(does: string) {
	const script = join(await makeAgentFolder(), "program.mjs");
	writeFileSync(script, does);
	return { program: process.execPath, args: [script] };
}

test("the agent's own program prints the results of all checks", async () => {
	const program = join(import.meta.dirname, "../../bin/assay.js");
	const results = await runChecksInChild(
		{ program: process.execPath, args: [program, "agent"] },
		FOLDER,
		never,
	);
	expect(results.map(({ check_key }) => check_key)).toEqual(CHECK_KEYS);
	expect(results.map(({ evidence }) => evidence.reason)).not.toContain(
		"check_crashed",
	);
});

test.each([
	["crashes", "process.exit(3)"],
	["prints nothing", ""],
	["prints something else", "console.log('Segmentation fault')"],
	[
		"prints JSON that is not a result",
		`console.log('{"results":[{"status":"FINE"}]}')`,
	],
	[
		"never stops printing",
		"const say = () => process.stdout.write('x'.repeat(65536), say); say()",
	],
])("every check is UNKNOWN when the process %s", async (_, does) => {
	const results = await runChecksInChild(
		await programThat(does),
		FOLDER,
		never,
	);
	expect(results.map(({ check_key }) => check_key)).toEqual(CHECK_KEYS);
	for (const { status, evidence } of results) {
		expect([status, evidence]).toEqual([
			"UNKNOWN",
			{ reason: "check_crashed" },
		]);
	}
});

test("a process that is stuck in a check and ignores signals is killed", async () => {
	const own = await programThat("process.on('SIGTERM', () => {}); for (;;) {}");
	const results = await runChecksInChild(own, FOLDER, never, 500);
	expect(results[0]?.evidence).toEqual({ reason: "timed_out" });
});

test("a stop ends the process", async () => {
	const stop = new AbortController();
	const own = await programThat("setInterval(() => {}, 1000)");
	const running = runChecksInChild(own, FOLDER, stop.signal);
	stop.abort();
	expect(await running).toHaveLength(CHECK_KEYS.length);
});

test("a missing program leaves every check UNKNOWN", async () => {
	const own = { program: "/nowhere/assay-agent", args: [] };
	expect(await runChecksInChild(own, FOLDER, never)).toHaveLength(
		CHECK_KEYS.length,
	);
});
