import type { CheckResult } from "./checks/run-checks.ts";
import type { ShownFacts } from "./facts.ts";
import { printable } from "./log.ts";

const MAX_EVIDENCE = 120;

/** Returns the results as a table for people, with their evidence. */
export function describeResults(results: readonly CheckResult[]): string {
	const rows = [
		["STATUS", "CHECK", "EVIDENCE"],
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
	const text = Object.entries(evidence)
		.map(([name, value]) =>
			typeof value === "object" && value !== null
				? `${name}=${JSON.stringify(value)}`
				: `${name}=${value}`,
		)
		.join(" ");
	const line = printable(text);
	return line.length > MAX_EVIDENCE ? `${line.slice(0, MAX_EVIDENCE)}…` : line;
}
