import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** A path in backquotes: it has a slash, or the extension of a file. */
const PATH =
	/`((?:[\w.<>…-]+\/)+[\w.<>…-]*|[\w.<>…-]+\.(?:ts|tsx|css|sql|md|ya?ml))`/g;

/**
 * Returns the paths in a Markdown text that lead to no file. Names such as `<kind>` and `…` stand
 * for any text. A name without a folder is in a folder that its line has named before. If the line
 * has named none, its section has.
 */
function findDeadPaths(markdown: string): string[] {
	const dead: string[] = [];
	for (const section of markdown.split(/\n## /)) {
		const ofSection: string[] = [];
		for (const line of section.split("\n")) {
			const ofLine: string[] = [];
			for (const [, path = ""] of line.matchAll(PATH)) {
				const folders = ofLine.length > 0 ? ofLine : ofSection;
				const pattern = path.replace(/<[^>]*>|…|NNNN/g, "*");
				const found = ["", ...folders]
					.map((folder) => join(folder, pattern))
					.find((place) => globSync(place, { cwd: root }).length > 0);
				if (found === undefined) {
					dead.push(path);
					continue;
				}
				const folder = path.endsWith("/") ? found : dirname(found);
				ofLine.push(folder);
				ofSection.push(folder);
			}
		}
	}
	return dead;
}

test("every path in CONTRIBUTING.md and in README.md's map leads to a file", () => {
	const [contributing, readme] = ["CONTRIBUTING.md", "README.md"].map((name) =>
		readFileSync(join(root, name), "utf8"),
	);
	expect(findDeadPaths(`${contributing}`)).toEqual([]);
	expect(findDeadPaths(`${readme?.split("\n## Map\n")[1]}`)).toEqual([]);
});

/** A path in backquotes that begins with a folder of the repository. */
const WHOLE_PATH =
	/`((?:agent|bench|bin|console|deploy|docs|release|simulator|sql|src|test|tools)\/[\w.<>…*/-]+)`/g;

test("every path in SECURITY.md and in the guides that begins with a folder of the repository leads to a file", () => {
	const dead = ["SECURITY.md", ...globSync("docs/*.md", { cwd: root })].flatMap(
		(guide) =>
			[...readFileSync(join(root, guide), "utf8").matchAll(WHOLE_PATH)]
				.map(([, path = ""]) => path.replace(/<[^>]*>|…/g, "*"))
				.filter((path) => globSync(path, { cwd: root }).length === 0)
				.map((path) => `${guide}: ${path}`),
	);
	expect(dead).toEqual([]);
});

test("a path that leads nowhere is found", () => {
	const text =
		"| a mail | `src/mail/mailer.ts`, `nowhere.ts`, `composers.ts` |";
	expect(findDeadPaths(text)).toEqual(["nowhere.ts"]);
});
