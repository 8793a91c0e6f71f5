import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENDING_SHARED } from "../support/longest-first.ts";

const TESTS = join(import.meta.dirname, "..");

/** Matches code that stops the timers of the process, or sees the queries of all its connections. */
const AFFECTS_OTHERS =
	/useFakeTimers\((?![^)]*toFake)|toFake: \[[^\]]*"setTimeout"|Client\.prototype\.query = /;

test("a file that stops the timers of its process, or sees all its queries, ends the shared service first", async () => {
	const unsafe: string[] = [];
	let found = 0;
	for await (const path of glob("**/*.test.ts", { cwd: TESTS })) {
		const text = await readFile(join(TESTS, path), "utf8");
		if (!AFFECTS_OTHERS.test(text) || path.startsWith("browser/")) continue;
		if (text.includes("await endShared();")) found++;
		else unsafe.push(path);
	}
	expect(unsafe).toEqual([]);
	expect(found).toBeGreaterThan(3);
});

test("the files that end the shared service are those that start first", async () => {
	const ending: string[] = [];
	for await (const path of glob("**/*.test.ts", { cwd: TESTS })) {
		if (path === "policy/shared-service.test.ts") continue;
		const text = await readFile(join(TESTS, path), "utf8");
		if (text.includes("await endShared();")) {
			ending.push(path.replace(/\.test\.ts$/, ""));
		}
	}
	expect(ending.sort()).toEqual(ENDING_SHARED);
});
