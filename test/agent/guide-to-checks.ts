import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
	isReason,
	type Reason,
} from "../../src/devices/remediation/reasons.ts";
import type { CheckKey, Platform } from "../../src/devices/terms.ts";

// Reads docs/agent-checks.md, so that tests can compare it with the code.

const GUIDE = readFileSync(
	join(import.meta.dirname, "../../docs/agent-checks.md"),
	"utf8",
);

const ROWS: Record<Platform, string> = {
	LINUX: "Linux",
	DARWIN: "macOS",
	WINDOWS: "Windows",
	FREEBSD: "FreeBSD",
};

const SECTIONS = new Map(
	GUIDE.split(/^## /m)
		.slice(1)
		.map((text): [string, string] => [text.split("\n", 1)[0] ?? "", text]),
);

/** Returns the section with this heading. */
export function sectionOf(heading: string): string {
	const section = SECTIONS.get(heading);
	if (section === undefined) throw new Error(`no section "${heading}"`);
	return section;
}

export const reasonsIn = (text: string): Reason[] =>
	[...text.matchAll(/`([a-z_]+)`/g)]
		.map(([, word = ""]) => word)
		.filter(isReason);

/** Returns all reasons that the guide names. */
export const allReasons = (): Set<string> => new Set(reasonsIn(GUIDE));

/**
 * Returns the reasons that the guide gives a check of its own on a platform. The section of a check
 * begins with its key.
 */
export function reasonsOf(check: CheckKey, platform: Platform): Reason[] {
	const section = [...SECTIONS.values()].find((text) =>
		text.includes(`\nKey: \`${check}\`\n`),
	);
	if (section === undefined) throw new Error(`no section about ${check}`);
	const [, table = ""] = section.split("| platform | reasons |");
	const row = new RegExp(`^\\| ${ROWS[platform]} \\| (.*) \\|$`, "m");
	return reasonsIn(row.exec(table)?.[1] ?? "");
}

export const PLATFORMS_IN_GUIDE = Object.keys(ROWS) as Platform[];
