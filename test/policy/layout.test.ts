import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const inSource = readdirSync(join(root, "src"), { withFileTypes: true });

test("at most 12 files of the service are in no folder", () => {
	const loose = inSource.filter((entry) => entry.isFile());
	expect(loose.map(({ name }) => name).slice(12)).toEqual([]);
});

test("the map in README.md names every folder of the service", () => {
	const [, map = ""] = readFileSync(join(root, "README.md"), "utf8").split(
		"\n## Map\n",
	);
	const folders = inSource.filter((entry) => entry.isDirectory());
	const missing = folders
		.map(({ name }) => `\`src/${name}/\``)
		.filter((folder) => !map.includes(folder));
	expect(missing).toEqual([]);
});
