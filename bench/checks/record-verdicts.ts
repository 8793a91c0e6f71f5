import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { chai, expect } from "vitest";
import { POSTURE_STATUSES } from "../../src/devices/terms.ts";
import type { Verdict } from "./verdicts.ts";

// Notes each verdict that a test of the checks compares, and the verdict that the test expects.

const file = process.env.CHECK_VERDICTS;

const statusOf = (value: unknown): string | undefined => {
	const status =
		typeof value === "object" && value !== null
			? (value as { status?: unknown }).status
			: value;
	return POSTURE_STATUSES.find((known) => known === status);
};

function note(actual: unknown, wanted: unknown): void {
	const verdict = statusOf(actual);
	const expected = statusOf(wanted);
	const { currentTestName, testPath } = expect.getState();
	if (!file || !verdict || !expected || !testPath || !currentTestName) return;
	const { evidence } = Object(actual) as { evidence?: Verdict["evidence"] };
	const line: Verdict = {
		...(evidence && { evidence }),
		file: basename(testPath, ".test.ts"),
		name: currentTestName,
		verdict,
		expected,
	};
	appendFileSync(file, `${JSON.stringify(line)}\n`);
}

// The setup runs before each test file, and all files of a process share one chai.
const shared = globalThis as { isNotingVerdicts?: boolean };
const isFirst = !shared.isNotingVerdicts;
shared.isNotingVerdicts = true;

if (isFirst) {
	chai.use((_, utils) => {
		for (const method of ["toBe", "toEqual", "toMatchObject"]) {
			utils.overwriteMethod(
				chai.Assertion.prototype,
				method,
				(original: (...args: unknown[]) => unknown) =>
					function (this: Chai.AssertionStatic, ...args: unknown[]) {
						if (!utils.flag(this, "negate")) {
							note(utils.flag(this, "object"), args[0]);
						}
						return original.apply(this, args);
					},
			);
		}
	});
}
