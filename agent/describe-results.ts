import {
	describeFix,
	evidenceLine,
} from "../src/devices/remediation/describe-fix.ts";
import { explain } from "../src/devices/remediation/remediation.ts";
import type { Platform } from "../src/devices/terms.ts";
import type { CheckResult } from "./checks/run-checks.ts";
import type { ShownFacts } from "./facts.ts";
import { printable } from "./log.ts";

const MAX_EVIDENCE = 120;

/**
 * Returns the results for people: a table with the evidence, and below it how to fix each check
 * that fails or is unknown.
 */
export function describeResults(
	results: readonly CheckResult[],
	platform: Platform,
): string {
	const fixes = results
		.map((result) =>
			describeFix(
				{ ...result, ...explain({ ...result, platform }, results) },
				printable,
			),
		)
		.filter((fix) => fix !== undefined);
	return [describeTable(results), ...fixes].join("\n\n");
}

/** Returns the results as a table, one line for each check. */
export function describeTable(
	results: readonly Omit<CheckResult, "observed_at">[],
): string {
	const hasEvidence = results.some(
		({ evidence }) => Object.keys(evidence).length > 0,
	);
	const rows = [
		["STATUS", "CHECK", hasEvidence ? "EVIDENCE" : ""],
		...results.map(({ check_key, status, evidence }) => [
			status,
			check_key,
			describeEvidence(evidence),
		]),
	];
	const widths = [0, 1].map((column) =>
		Math.max(...rows.map((row) => row[column]?.length ?? 0)),
	);
	return rows
		.map((row) =>
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}

/** Returns the content of a heartbeat as text for the user of the device. */
export function describeFacts(heartbeat: ShownFacts): string {
	const lines = Object.entries(heartbeat).map(
		([name, value]) =>
			`  ${name.padEnd(15)}${value === null ? "generated when the device is enrolled" : printable(value ?? "")}`,
	);
	return ["A heartbeat contains", ...lines].join("\n");
}

function describeEvidence(evidence: Record<string, unknown>): string {
	const line = printable(evidenceLine(evidence));
	return line.length > MAX_EVIDENCE ? `${line.slice(0, MAX_EVIDENCE)}…` : line;
}
