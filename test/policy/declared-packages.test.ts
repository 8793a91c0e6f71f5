import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const { dependencies, devDependencies } = JSON.parse(
	readFileSync(join(ROOT, "package.json"), "utf8"),
) as Record<"dependencies" | "devDependencies", Record<string, string>>;

/** What an installed service runs. The console and the bundle of the agent are built before. */
const INSTALLED = "{agent,bin,simulator,src}/**/*.{ts,js}";
const BUILT_BEFORE = ["agent/bundle.ts"];
const ALL = [
	"*.ts",
	"{agent,bench,bin,console,deploy,release,simulator,src,test,tools}/**/*.{ts,tsx,js}",
];

const IMPORT =
	/\b(import|export)\b( type\b)?(?: [\w\s{},*$]+? from)? ?\(?"([@\w][^"\s:]*)"/g;

/** Returns the packages that a program imports. Types are only erased, so they need no package. */
function importsOf(program: string, withTypes: boolean): string[] {
	return [...program.matchAll(IMPORT)]
		.filter(([, , type, name = ""]) => (withTypes || !type) && !isBuiltin(name))
		.map(([, , , name = ""]) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
}

/** Returns what the programs import although package.json does not name it. */
function findUndeclared(
	pattern: string | string[],
	declared: Record<string, string>,
	withTypes: boolean,
): string[] {
	return globSync(pattern, {
		cwd: ROOT,
		exclude: ["console/dist", "test/policy/declared-packages.test.ts"],
	}).flatMap((path) =>
		importsOf(readFileSync(join(ROOT, path), "utf8"), withTypes)
			.filter((name) => !Object.hasOwn(declared, name))
			.map((name) => `${path}: ${name}`),
	);
}

test("package.json names every package that a program imports", () => {
	const declared = { ...dependencies, ...devDependencies };
	expect(findUndeclared(ALL, declared, true)).toEqual([]);
});

test("what an installed service imports is no package for development", () => {
	const undeclared = findUndeclared(INSTALLED, dependencies, false);
	expect(
		undeclared.filter((one) => !BUILT_BEFORE.includes(`${one.split(":")[0]}`)),
	).toEqual([]);
});

test("the package that a plugin imports in the code that it makes is found", () => {
	const plugin = readFileSync(join(ROOT, "console/zip-plugin.ts"), "utf8");
	expect(importsOf(plugin, false)).toContain("fflate");
});

test("all forms of imports are found", () => {
	const program = `
		import a, { type B } from "one";
		import {
			c,
		} from "@two/three/four";
		import type { D } from "five";
		export * from "six/seven";
		import "eight";
		const nine = await import("nine");
		import ten from "./ten.ts";
		import eleven from "node:fs";
		import twelve from "fs/promises";`;
	expect(importsOf(program, true)).toEqual([
		"one",
		"@two/three",
		"five",
		"six",
		"eight",
		"nine",
	]);
	expect(importsOf(program, false)).not.toContain("five");
});
