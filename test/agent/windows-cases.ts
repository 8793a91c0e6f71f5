import { expect, test } from "vitest";
import type { Check } from "../../agent/checks/check.ts";
import { windowsHost } from "./windows-recording.ts";

/** The name of the case, the output of the script, and the expected part of the outcome. */
type Case = [
	title: string,
	printed: object,
	status: string,
	evidence: object,
	options?: { isPrivileged?: boolean; now?: string },
];

/**
 * Makes a test of each case of a check, on a Windows device on which the check's script printed the
 * given output.
 */
export const cases = (check: Check, script: string, list: Case[]) =>
	test.each(list)("%s", async (_, printed, status, evidence, options) => {
		const outcome = await check(windowsHost(script, printed, options));
		expect(outcome).toMatchObject({ status, evidence });
	});
