import { globSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import { BROWSER, EXHAUSTIVE, PROCESSES } from "../support/projects.ts";

const root = join(import.meta.dirname, "../..");
const files = globSync("test/**/*.test.ts", { cwd: root });

/** Returns the names without braces that a pattern stands for. */
function namesOf(pattern: string): string[] {
	const [whole, list] = /\{([^}]*)\}/.exec(pattern) ?? [];
	if (!whole) return [pattern];
	return (list ?? "")
		.split(",")
		.flatMap((name) => namesOf(pattern.replace(whole, name)));
}

test.each(
	[...PROCESSES, ...EXHAUSTIVE].flatMap(namesOf),
)("%s is the name of a test file", (pattern) => {
	expect(files.filter((file) => matchesGlob(file, pattern))).not.toEqual([]);
});

test("no test file belongs to two projects, which would run it twice", () => {
	const twice = files.filter(
		(file) =>
			[BROWSER, PROCESSES, EXHAUSTIVE].filter((project) =>
				project.some((pattern) => matchesGlob(file, pattern)),
			).length > 1,
	);
	expect(files.length).toBeGreaterThan(400);
	expect(twice).toEqual([]);
});
