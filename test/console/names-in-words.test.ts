import { expect, test } from "vitest";
import { inWords, nounOf } from "../../console/src/parts/names-in-words.ts";
import { toJsonSchema } from "../../src/mcp/json-schema.ts";
import { choiceLabel } from "../../src/records/labels.ts";
import { recordKinds } from "../../src/registers/all.ts";

test.each([
	["revokeApiToken", "Revoke API token"],
	["resetTwoFactor", "Reset two-factor"],
	["PARTIALLY_COMPLIANT", "Partially compliant"],
	["NON_COMPLIANT", "Non-compliant"],
	["TODO", "To do"],
	["ISMS", "ISMS"],
	["updateScimGroup", "Update SCIM group"],
	["readSamlMetadata", "Read SAML metadata"],
	["ssh_running", "SSH running"],
	["os_version", "OS version"],
	["ipv4_filtered", "IPv4 filtered"],
	["ipv6Filtered", "IPv6 filtered"],
	["isEncrypted", "Is encrypted"],
	["data type", "Data type"],
	["/dev/sda1", "/dev/sda1"],
])("the name %s is written as %s", (name, words) => {
	expect(inWords(name)).toBe(words);
});

test("the console and the server write each choice of a register alike, with acronyms in capitals", () => {
	const choices = recordKinds.flatMap(({ fields }) =>
		Object.values(fields).flatMap(({ input }) => {
			const { enum: values } = toJsonSchema(input, "input");
			return Array.isArray(values) ? values.map(String) : [];
		}),
	);
	expect(choices).toContain("ISMS");
	expect(choices.map(choiceLabel)).toEqual(choices.map(inWords));
	expect(choiceLabel("ISMS")).toBe("ISMS");
});

test("a kind of record is called by the noun that people use", () => {
	expect(["people", "datum", "api_token", "risk"].map(nounOf)).toEqual([
		"person",
		"data type",
		"API token",
		"risk",
	]);
});
