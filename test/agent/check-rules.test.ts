import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { loadChecks } from "../../agent/checks/run-checks.ts";
import { isReason, REASONS } from "../../src/devices/remediation/reasons.ts";
import {
	CANONICAL_CHECKS,
	CHECK_KEYS,
	type CheckKey,
	type Platform,
} from "../../src/devices/terms.ts";
import {
	CHOICES,
	THRESHOLD_NAMES,
	THRESHOLDS,
} from "../../src/devices/thresholds.ts";
import { fileOfCheck } from "./check-files.ts";
import {
	allReasons,
	PLATFORMS_IN_GUIDE,
	reasonsIn,
	reasonsOf,
	sectionOf,
} from "./guide-to-checks.ts";

const CHECKS = join(import.meta.dirname, "../../agent/checks");
const COMMON = reasonsIn(sectionOf("Reasons that every check may have"));
/** Reasons about an SSH server, which are the same on every platform. */
const OF_SSH = reasonsIn(
	sectionOf("Remote-login exposure")
		.split("### ")
		.find((part) => part.startsWith("SSH")) ?? "",
);

/** Reasons in the files of a check that it does not give. */
const UNUSED: Record<string, string[]> = {
	"AUTO_UPDATE LINUX": ["account_not_found", "wsl"],
	"MALWARE_PROTECTION DARWIN": ["patch_age_not_known"],
};

/** Returns a file of the checks and the files of the checks that it imports. */
function withImports(file: string, seen = new Set<string>()): Set<string> {
	if (seen.has(file)) return seen;
	seen.add(file);
	const text = readFileSync(file, "utf8");
	for (const [, path = ""] of text.matchAll(/from "(\.[^"]+)"/g)) {
		const imported = resolve(dirname(file), path);
		if (imported.startsWith(CHECKS)) withImports(imported, seen);
	}
	return seen;
}

/**
 * Returns the reasons of its own that a check can give on a platform, by its code. A platform that
 * does not have the check gives none of them.
 */
async function reasonsInCode(
	check: CheckKey,
	platform: Platform,
): Promise<string[]> {
	if (!(await loadChecks(platform))[check]) return [];
	const files = [...withImports(fileOfCheck(check, platform))];
	const known = [
		...COMMON,
		...OF_SSH,
		...(UNUSED[`${check} ${platform}`] ?? []),
	];
	const words = files.flatMap((file) =>
		[...readFileSync(file, "utf8").matchAll(/"([a-z_]+)"/g)].map(
			([, word = ""]) => word,
		),
	);
	return [...new Set(words)]
		.filter((word) => isReason(word) && !known.includes(word))
		.sort();
}

describe("the guide to the checks", () => {
	const cases = CHECK_KEYS.flatMap((check) =>
		PLATFORMS_IN_GUIDE.map((platform) => [check, platform] as const),
	);

	test.each(cases)("names the reasons of %s on %s", async (check, platform) => {
		expect(reasonsOf(check, platform).toSorted()).toEqual(
			await reasonsInCode(check, platform),
		);
	});

	test.each(
		CHECK_KEYS,
	)("lists %s in the table of the checks, with a link to its section", (check) => {
		const { name } = CANONICAL_CHECKS[check];
		const anchor = name.toLowerCase().replaceAll(" ", "-");
		expect(sectionOf("The checks")).toContain(
			`\n| [${name}](#${anchor}) | \`${check}\` | `,
		);
		expect(sectionOf(name)).toContain(`\nKey: \`${check}\`\n`);
	});

	test("names every reason of a check", () => {
		expect(OF_SSH).toHaveLength(3);
		const named = allReasons();
		// The agent gives this one for its queue of reports.
		const ofChecks = Object.keys(REASONS).filter(
			(reason) => reason !== "reports_dropped",
		);
		expect(ofChecks.filter((reason) => !named.has(reason))).toEqual([]);
	});

	test("gives each limit with its default and its bounds", () => {
		const limits = sectionOf("Limits");
		for (const name of THRESHOLD_NAMES) {
			const { default: usual, least, most } = THRESHOLDS[name];
			expect(limits).toContain(
				`| \`${name}\` | ${usual} | ${least} to ${most} |`,
			);
		}
		for (const [name, words] of Object.entries(CHOICES)) {
			for (const word of [name, ...words]) expect(limits).toContain(word);
		}
	});
});
