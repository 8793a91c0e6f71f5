import { globSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const foldersOf = (pattern: string) =>
	globSync(pattern, { cwd: root, withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ name }) => name);
const testFiles = globSync("test/**/*.test.ts", { cwd: root }).map((path) =>
	path.split(sep).join("/"),
);

/** The rooms of the service, the programs, and what is only in `test/`. */
const roomsOfService = foldersOf("src/*");
const programs = ["agent", "console", "deploy", "release"];
const onlyTests = ["browser", "policy", "support"];

test("each folder of test/ has the name of a room or of a program", () => {
	const known = new Set([...roomsOfService, ...programs, ...onlyTests]);
	// A move may leave an empty folder behind, which Git does not know.
	const folders = foldersOf("test/*").filter(
		(name) => globSync(`test/${name}/*`, { cwd: root }).length > 0,
	);
	expect(folders.filter((name) => !known.has(name))).toEqual([]);
});

test("each program with tests exists, and each room of the service has tests", () => {
	expect(foldersOf(`{${programs.join(",")}}`).sort()).toEqual(programs);
	const withTests = new Set(testFiles.map((path) => path.split("/")[1]));
	const without = [...roomsOfService, ...programs].filter(
		(room) => !withTests.has(room),
	);
	expect(without).toEqual([]);
});

test("no test file is in a folder inside a room", () => {
	expect(testFiles.length).toBeGreaterThan(400);
	const deep = testFiles.filter((path) => path.split("/").length > 3);
	expect(deep).toEqual([]);
});

test("a test file in no folder is about a file of src/ in no folder", () => {
	const loose = testFiles.filter((path) => path.split("/").length === 2);
	const subjects = new Set(
		globSync("src/*.ts", { cwd: root }).map((path) => basename(path, ".ts")),
	);
	const others = loose.filter(
		(path) => !subjects.has(basename(path, ".test.ts")),
	);
	expect(others).toEqual([]);
});
