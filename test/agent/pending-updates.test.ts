import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { notePendingUpdates } from "../../agent/pending-updates.ts";
import { makeAgentFolder } from "./folders.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const START = Date.parse("2026-01-01T00:00:00Z");
const on = (day: number) => new Date(START + day * DAY_MS);
const list = (names: string[]) => ({ list: async () => names });

test("the notes stay small, and keep the updates that have waited longest", async () => {
	const folder = await makeAgentFolder();
	const many = Array.from({ length: 2000 }, (_, index) => `package-${index}`);
	await notePendingUpdates(folder, on(0), list(["oldest"]));
	const waiting = await notePendingUpdates(
		folder,
		on(1),
		list([...many, "x".repeat(10_000), "oldest"]),
	);
	expect(waiting).toEqual({ count: 500, since: START });
	const { size } = await stat(join(folder, "pending-updates.json"));
	expect(size).toBeLessThan(150 * 1024);
});

test("a clock that was set back does not make an update older or younger than the notes say", async () => {
	const folder = await makeAgentFolder();
	await notePendingUpdates(folder, on(10), list(["a"]));
	expect(await notePendingUpdates(folder, on(5), list(["a"]))).toEqual({
		count: 1,
		since: on(5).getTime(),
	});
	expect(await notePendingUpdates(folder, on(12), list(["a"]))).toEqual({
		count: 1,
		since: on(10).getTime(),
	});
});

test("notes about a restart are kept apart from those about updates", async () => {
	const folder = await makeAgentFolder();
	const restart = { notes: "restart", ...list(["a"]) } as const;
	await notePendingUpdates(folder, on(0), list(["a"]));
	await notePendingUpdates(folder, on(3), restart);
	await notePendingUpdates(folder, on(4), list([]));
	expect(await notePendingUpdates(folder, on(5), restart)).toEqual({
		count: 1,
		since: on(3).getTime(),
	});
});

test("an update with the name of a method is an ordinary update", async () => {
	const folder = await makeAgentFolder();
	const names = ["constructor", "__proto__", "toString"];
	await notePendingUpdates(folder, on(0), list(names));
	const waiting = await notePendingUpdates(folder, on(3), list(names));
	expect(waiting).toEqual({ count: 3, since: START });
	const text = await readFile(join(folder, "pending-updates.json"), "utf8");
	expect(JSON.parse(text).updates).toHaveProperty("constructor");
});

test("the updates are not listed if no notes can be kept", async () => {
	const folder = await makeAgentFolder();
	const never = {
		list: async () => {
			throw new Error("the updates were listed");
		},
	};
	for (const [path, mayWrite] of [
		[join(folder, "missing"), true],
		[folder, false],
	] as const) {
		expect(
			await notePendingUpdates(path, on(0), never, mayWrite),
		).toBeUndefined();
	}
});

test("notes that must stay as they are are read and not written", async () => {
	const folder = await makeAgentFolder();
	expect(
		await notePendingUpdates(folder, on(0), list(["a"]), false),
	).toBeUndefined();
	expect(await readdir(folder)).not.toContain("pending-updates.json");
	await notePendingUpdates(folder, on(0), list(["a"]));
	expect(
		await notePendingUpdates(folder, on(9), list(["a", "b"]), false),
	).toEqual({ count: 2, since: START });
	const text = await readFile(join(folder, "pending-updates.json"), "utf8");
	expect(Object.keys(JSON.parse(text).updates)).toEqual(["a"]);
});
