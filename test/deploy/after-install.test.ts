import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../bin/after-install.js");
const NEEDED = ["@simplewebauthn", "better-auth", "react", "zod"];
const FOR_BUILD = [
	"@rolldown",
	"@vitest",
	"lightningcss",
	"lightningcss-linux-x64-gnu",
	"react-dom",
	"rolldown",
	"vite",
	"vitest",
];

/** Runs the script in a folder with these packages. Returns the packages that are left. */
function install(omit: string): string[] {
	const folder = mkdtempSync(join(tmpdir(), "assay-install-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	for (const name of [...NEEDED, ...FOR_BUILD]) {
		mkdirSync(join(folder, "node_modules", name), { recursive: true });
	}
	cpSync(SCRIPT, join(folder, "bin/after-install.js"));
	execFileSync(process.execPath, [join(folder, "bin/after-install.js")], {
		env: { ...process.env, npm_config_omit: omit },
	});
	return readdirSync(join(folder, "node_modules")).sort();
}

test("an installation without development packages has none that only builds need", () => {
	expect(install("dev")).toEqual(NEEDED);
});

test("an installation for development keeps all packages", () => {
	expect(install("")).toEqual([...NEEDED, ...FOR_BUILD].sort());
	expect(install("optional")).toEqual([...NEEDED, ...FOR_BUILD].sort());
});
