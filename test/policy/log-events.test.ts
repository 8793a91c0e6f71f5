import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const guide = read("docs/operating.md");

test("docs/operating.md names every event of the log", () => {
	const events = globSync("src/**/*.ts", { cwd: root }).flatMap((path) =>
		// Events of the audit log have the names of operations, with capital letters.
		[...read(path).matchAll(/\bevent: "([a-z_]+)",?$/gm)].map(
			([, event]) => event,
		),
	);
	expect(events).toContain("oauth_refused");
	const missing = events.filter(
		(event) => !guide.includes(`| \`${event}\` |`) && event !== "request",
	);
	expect(missing).toEqual([]);
	expect(guide).toContain('"event":"request"');
});

test("docs/operating.md names every reason for which a program is refused", () => {
	const reasons = [
		...read("src/oauth/refusal-log.ts").matchAll(/^\t\| "([A-Z_]+)"/gm),
	].map(([, reason]) => reason);
	expect(reasons).toHaveLength(6);
	const missing = reasons.filter((reason) => !guide.includes(String(reason)));
	expect(missing).toEqual([]);
});
