import { describe, expect, test } from "vitest";
import type { Check } from "../../agent/checks/check.ts";
import type { CheckKey } from "../../src/devices/terms.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";

/** The differences from a recorded machine: other commands and files, or missing ones. */
export type Change = Partial<Recording> & { without?: string[] };

/** The name of the case, the change, the expected status and the expected evidence. */
export type Case = [string, Change, string, Record<string, unknown>];

/** Returns a change that replaces the output of commands. */
export const commands = (said: NonNullable<Recording["commands"]>): Change => ({
	commands: said,
});

/** Returns a change that replaces the content of a file. */
export const file = (path: string, text: string): Change => ({
	files: { [path]: text },
});

/** Returns the recording of the machine with the change. */
export function changed(
	machine: Recording,
	{ without = [], ...change }: Change,
): Recording {
	const keep = (all: object | undefined) =>
		Object.fromEntries(
			Object.entries(all ?? {}).filter(([name]) => !without.includes(name)),
		);
	return {
		...machine,
		...change,
		commands: { ...keep(machine.commands), ...change.commands },
		files: { ...keep(machine.files), ...change.files },
	};
}

/**
 * Makes a test of each case of a check, on a machine on which the check passes without the case's
 * change.
 */
export const tableOf =
	<Key extends CheckKey>(machine: Recording, checks: Record<Key, Check>) =>
	(key: Key, cases: Case[]): void => {
		describe(key, () => {
			test.each(cases)("%s", async (_, change, status, evidence) => {
				const host = recordedHost(changed(machine, change));
				expect(await checks[key](host)).toEqual({ status, evidence });
			});
		});
	};
