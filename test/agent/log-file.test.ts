import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeFolder } from "../../agent/folder.ts";
import { makeLogFile } from "../../agent/log-file.ts";
import { runAgent } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { makeAgentFolder } from "./folders.ts";

async function makePlace() {
	const place = await makeFolder("assay-log-");
	onTestFinished(() => rm(place, { recursive: true, force: true }));
	return place;
}

test("a log file keeps one earlier file and never grows over its limit", async () => {
	const file = join(await makePlace(), "agent.log");
	const write = makeLogFile(file, 100);
	for (let line = 10; line < 60; line++) write(`line ${line}\n`);
	const newest = readFileSync(file, "utf8");
	const earlier = readFileSync(`${file}.1`, "utf8");
	expect(newest.endsWith("line 59\n")).toBe(true);
	expect((earlier + newest).split("\n").length).toBeGreaterThan(12);
	for (const text of [newest, earlier]) {
		expect(text.length).toBeLessThanOrEqual(100);
	}
	expect(`${earlier}${newest}`).toMatch(/^(line \d\d\n)+$/);
	expect(statSync(file).mode & 0o007).toBe(0);
});

test("a new start appends to the log, and a log that was deleted comes back", async () => {
	const file = join(await makePlace(), "agent.log");
	makeLogFile(file)("one\n");
	const write = makeLogFile(file);
	write("two\n");
	expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
	await rm(file);
	write("three\n");
	expect(readFileSync(file, "utf8")).toBe("three\n");
});

test("without its folder, the log goes to standard error and makes no folder", async () => {
	const place = await makePlace();
	const written: string[] = [];
	const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
		written.push(String(text));
		return true;
	});
	onTestFinished(() => spy.mockRestore());
	makeLogFile(join(place, "gone", "agent.log"))("lost?\n");
	expect(written).toEqual(["lost?\n"]);
	expect(existsSync(join(place, "gone"))).toBe(false);
});

test("a log that cannot be renamed is emptied before it gets far too large", async () => {
	const file = join(await makePlace(), "agent.log");
	await mkdir(`${file}.1`);
	await writeFile(join(`${file}.1`, "in the way"), "");
	const write = makeLogFile(file, 100);
	for (let line = 10; line < 90; line++) write(`line ${line}\n`);
	const text = readFileSync(file, "utf8");
	expect(text.endsWith("line 89\n")).toBe(true);
	expect(text.length).toBeLessThanOrEqual(208);
});

test("`run` writes why it ended into its log", async () => {
	const place = await makePlace();
	const log = join(place, "agent.log");
	const folder = join(place, "nothing");
	const ended = await runAgent(["run", "--dir", folder, "--log", log]);
	expect(ended).toMatchObject({ code: 1, stderr: "" });
	expect(readFileSync(log, "utf8")).toMatch(
		/^\S+ error there is no agent in .*nothing; enroll this device/,
	);
});

test("removing the agent removes its log", async () => {
	const folder = await makeAgentFolder();
	await writeFile(join(folder, "agent.log"), "");
	await writeFile(join(folder, "agent.log.1"), "");
	expect(await removeFolder(folder)).toEqual([]);
	expect(existsSync(folder)).toBe(false);
});
