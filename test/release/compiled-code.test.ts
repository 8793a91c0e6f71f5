import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

test("a package compiles all code that the new version loads before it stops the old one", () => {
	const cache = mkdtempSync(join(tmpdir(), "assay-compiled-"));
	onTestFinished(() => rmSync(cache, { recursive: true }));
	const env = { ...process.env, NODE_COMPILE_CACHE: cache };
	const load = (...args: string[]) => {
		execFileSync(process.execPath, args, { cwd: ROOT, env });
		return readdirSync(cache, { recursive: true }).length;
	};
	const compiled = load("bin/compile.ts");
	expect(compiled).toBeGreaterThan(500);
	// The program in --eval is an entry of its own.
	expect(load("--eval", "import('./src/serve.ts')")).toBeLessThan(compiled + 5);
	expect(load("bin/assay.js", "start", "--help")).toBeLessThan(compiled + 5);
});
