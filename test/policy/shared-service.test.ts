import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

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
