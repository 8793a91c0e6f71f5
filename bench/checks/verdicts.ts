import {
	type Explanation,
	explain,
} from "../../src/devices/remediation/remediation.ts";

import { CHECK_KEYS, type CheckKey } from "../../src/devices/terms.ts";
import { nameInFiles } from "../../test/agent/check-files.ts";
import {
	PLATFORMS_IN_GUIDE,
	reasonsOf,
} from "../../test/agent/guide-to-checks.ts";

/** The verdict of a check about one case. */
export interface Verdict {
	/** The test file without its extension, or the check's key for a real run. */
	file: string;
	name: string;
	verdict: string;
	expected: string;
	/** The evidence, if the test compares the whole outcome. */
	evidence?: Record<string, unknown>;
}

export interface Row {
	platform: string;
	check: string;
	/** Origin of the results: a recording, or a real run on this machine. */
	source: "recording" | "real";
	name: string;
	verdict: string;
	/** `any` if the run only shows the verdict. */
	expected: string;
	/** The reason for UNKNOWN or NOT_APPLICABLE, if the test compares the whole outcome. */
	reason?: string;
	/** The reason and the advice that the user of the device gets for a failure. */
	explanation?: Explanation;
}

/** Words in the names of further test files of a check. */
const OTHER_FILES: Partial<Record<CheckKey, RegExp>> = {
	AUTO_UPDATE: /patch-age|pending-updates/,
	FIREWALL_ENABLED: /packet-filter/,
	REMOTE_LOGIN: /remote-control/,
};

/** Returns the row of a recorded case, or undefined if its file is not one of a check. */
export function rowOf({
	file,
	name,
	verdict,
	expected,
	evidence,
}: Verdict): Row | undefined {
	const platform = file.split("-")[0]?.toUpperCase().replace("MACOS", "DARWIN");
	const check = CHECK_KEYS.find(
		(key) => file.includes(nameInFiles(key)) || OTHER_FILES[key]?.test(file),
	);
	if (check === undefined || platform === undefined) return undefined;
	const { reason } = evidence ?? {};
	const isFailure = verdict === "FAIL" && evidence !== undefined;
	const result = { platform, check_key: check, status: verdict, evidence };
	return {
		...(typeof reason === "string" && { reason }),
		...(isFailure && { explanation: explain(result) }),
		platform,
		check,
		source: "recording",
		name: name.split(" > ").at(-1) ?? name,
		verdict,
		expected,
	};
}

/**
 * Returns the reasons that docs/agent-checks.md names and no case gives, such as `LINUX TIME_SYNC
 * wsl`.
 */
export function findUntriedReasons(rows: readonly Row[]): string[] {
	const tried = new Set(
		rows.map(({ platform, check, reason }) => `${platform} ${check} ${reason}`),
	);
	return PLATFORMS_IN_GUIDE.flatMap((platform) =>
		CHECK_KEYS.flatMap((check) =>
			reasonsOf(check, platform).map(
				(reason) => `${platform} ${check} ${reason}`,
			),
		),
	).filter((reason) => !tried.has(reason));
}

export function describeRows(rows: readonly Row[]): string {
	const table = [
		["platform", "check", "source", "verdict", "expected", "case"],
		...rows.map((row) => [
			row.platform,
			row.check,
			row.source,
			row.verdict,
			row.expected,
			row.name,
		]),
	];
	const widths = [0, 1, 2, 3, 4].map((column) =>
		Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
	);
	return table
		.map((cells) =>
			cells
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}

/** Returns the number of cases of each platform and check, as lines of text. */
export function countRows(rows: readonly Row[]): string {
	const counts = new Map<string, number>();
	for (const { platform, check, source } of rows) {
		const key = `${source} ${platform} ${check}`;
		counts.set(key, (counts.get(key) ?? 0) + 1);
	}
	return [...counts]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([key, count]) => `${String(count).padStart(5)}  ${key}`)
		.join("\n");
}
