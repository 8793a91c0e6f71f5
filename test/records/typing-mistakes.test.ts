import { expect, test } from "vitest";
import {
	hasMistyped,
	mayBeMistyped,
} from "../../src/records/typing-mistakes.ts";

test.each([
	["Disk encryption", "enrcyption", true],
	["Disk encryption", "encyrp", true],
	["Disk encryption", "iskk", false],
	["Risk", "risc", true],
	["Risky", "risc", false],
	["Risk", "rsik", true],
	["Risk", "riskk", true],
	["Rise and fall", "fal1", true],
	["Zoë", "zzoe", false],
])("in %s, is %s mistyped: %s", (name, typed, is) => {
	expect(hasMistyped(name.toLowerCase(), typed)).toBe(is);
});

test("words that are very short or very long are not looked for", () => {
	expect(
		["abc", "abcd", "a".repeat(30), "a".repeat(31)].map(mayBeMistyped),
	).toEqual([...[false, true, true, false]]);
});
