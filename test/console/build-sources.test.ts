import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { listSources } from "../../console/ensure-build.ts";

const ROOT = join(import.meta.dirname, "../..");

test("the console is built again after a change of any file that is in the bundle", async () => {
	const sources = (await listSources()).map((path) => relative(ROOT, path));
	for (const path of [
		"package.json",
		"docs/console.md",
		"src/starters/documents/backup.md",
		"console/index.html",
		"console/src/main.tsx",
		// The console imports these from the server, and the last ones are imported by those.
		"src/sign-in/browser-words.ts",
		"src/tokens/old-token.ts",
		"src/sign-in/unattended-header.ts",
		"src/registers/risk.ts",
		"src/records/field.ts",
		// The console offers the agent as one file, which imports some files late.
		"agent/checks/check.ts",
	]) {
		expect(sources).toContain(path);
	}
	// A change of the rest of the server needs no build.
	expect(sources).not.toContain("src/db/pool.ts");
	expect(
		sources.filter((path) => /console\/(dist|screenshots)/.test(path)),
	).toEqual([]);
});
