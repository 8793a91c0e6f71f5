import { expect, test } from "vitest";
import { helpBeside } from "../../console/src/pages/registers/field-help.ts";

test("a help text that only repeats the label and the noun of the record is left out", () => {
	for (const [label, help, noun] of [
		["Name", "Name of the asset", "asset"],
		["Root cause", "Cause", "nonconformity"],
		["Category", "", "risk"],
		["Owner", "Owner", "risk"],
	] as const)
		expect(helpBeside(label, help, noun)).toBeUndefined();
	for (const [label, help, noun] of [
		["Name", "What could happen, in one line", "risk"],
		["Owner", "Owner of the asset", "risk"],
		["Due date", "Last day on which the task is in time", "task"],
	] as const)
		expect(helpBeside(label, help, noun)).toBe(help);
});
