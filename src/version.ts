import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const about: { version: string; gitHead?: string } = JSON.parse(
	readFileSync(join(ROOT, "package.json"), "utf8"),
);

/** The version of Assay, as in package.json. */
export const VERSION: string = about.version;

/**
 * The command to type, in advice that Assay prints. A release puts `assay` into PATH. In a checkout,
 * npx finds it.
 */
export const COMMAND = about.gitHead ? "assay" : "npx assay";

/**
 * Returns the version with the commit it was made from, such as `1.4.0 (2b510eb9c1d0)`. A release
 * records its commit as `gitHead` in package.json, and a checkout asks git. Without either, returns
 * the version alone.
 */
export function describeVersion(): string {
	const commit = about.gitHead ?? commitOfCheckout();
	return commit ? `${VERSION} (${commit.slice(0, 12)})` : VERSION;
}

function commitOfCheckout(): string | undefined {
	try {
		const asked = ["rev-parse", "--show-prefix", "HEAD"];
		const [prefix, commit] = execFileSync("git", ["-C", ROOT, ...asked], {
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		}).split("\n");
		// A prefix means that Assay lies inside the repository of something else.
		return prefix === "" ? commit : undefined;
	} catch {
		return undefined;
	}
}
