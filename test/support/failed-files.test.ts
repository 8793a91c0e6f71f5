import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "./folder.ts";

const VITEST = join(
	import.meta.dirname,
	"../../node_modules/vitest/vitest.mjs",
);
const REPORTER = join(import.meta.dirname, "failed-files.ts");
const FILES = {
	"passes.test.js": 'test("a", () => {});',
	"is-skipped.test.js": 'test.skip("a", () => {});',
	"fails.test.js": 'test("a", () => { throw new Error("no"); });',
	"fails-in-a-hook.test.js":
		'beforeAll(() => { throw new Error("no"); }); test("a", () => {});',
	"fails-to-load.test.js": 'import "./nowhere.js";',
	"passes-and-fails-outside.test.js":
		'test("a", () => { Promise.reject(new Error("no")); return new Promise(setImmediate); });',
};

test("the reporter lists the files that fail: in a test, in a hook, outside of tests, or before any", async () => {
	const folder = await makeFolder("assay-failed-files-");
	onTestFinished(() => rm(folder, { recursive: true }));
	for (const [name, text] of Object.entries(FILES)) {
		await writeFile(join(folder, name), text);
	}
	const list = join(folder, "failed");
	await expect(
		promisify(execFile)(
			process.execPath,
			[VITEST, "run", "--globals", "--root", folder, "--reporter", REPORTER],
			{ env: { ...process.env, FAILED_FILES: list } },
		),
	).rejects.toMatchObject({ code: 1 });
	const lines = (await readFile(list, "utf8")).trim().split("\n");
	expect(lines.map((path) => basename(path)).sort()).toEqual(
		Object.keys(FILES)
			.filter((name) => name.includes("fails"))
			.sort(),
	);
});
