import { expect, test } from "vitest";
import { inWords, nounOf } from "../../console/src/parts/names-in-words.ts";

test.each([
	["revokeApiToken", "Revoke API token"],
	["resetTwoFactor", "Reset two-factor"],
	["PARTIALLY_COMPLIANT", "Partially compliant"],
	["NON_COMPLIANT", "Non-compliant"],
	["TODO", "To do"],
	["os_version", "OS version"],
	["ipv4_filtered", "IPv4 filtered"],
	["ipv6Filtered", "IPv6 filtered"],
	["isEncrypted", "Is encrypted"],
	["data type", "Data type"],
	["/dev/sda1", "/dev/sda1"],
])("the name %s is written as %s", (name, words) => {
	expect(inWords(name)).toBe(words);
});

test("a kind of record is called by the noun that people use", () => {
	expect(["people", "datum", "api_token", "risk"].map(nounOf)).toEqual([
		"person",
		"data type",
		"API token",
		"risk",
	]);
});
