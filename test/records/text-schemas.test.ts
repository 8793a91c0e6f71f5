import { expect, test } from "vitest";
import { z } from "zod";
import {
	anyIdSchema,
	dateSchema,
	emailSchema,
	idSchema,
	nameSchema,
	textSchema,
	timeSchema,
	urlSchema,
} from "../../src/records/text-schemas.ts";

const MEBIBYTE = 1024 * 1024;

test.each([
	["urlSchema", urlSchema, 2048, `http://${"a".repeat(MEBIBYTE)} `],
	["emailSchema", emailSchema, 320, `${"a@".repeat(MEBIBYTE / 2)}`],
	["nameSchema", nameSchema, 1000, " ".repeat(MEBIBYTE)],
	["textSchema", textSchema, 5000, "\u0000".repeat(MEBIBYTE)],
	["dateSchema", dateSchema, 200, "1".repeat(MEBIBYTE)],
	["timeSchema", timeSchema, 200, "1".repeat(MEBIBYTE)],
] as const)("%s rejects a text that is too long before any other check", (_, make, max, text) => {
	const { error } = (make() as z.ZodType).safeParse(text);
	expect(error?.issues).toMatchObject([{ code: "too_big", maximum: max }]);
});

test("an id of the wrong length is rejected before any other check", () => {
	const { error } = anyIdSchema().safeParse("\n".repeat(MEBIBYTE));
	expect(error?.issues.map(({ code }) => code)).toEqual(["too_big"]);
	expect(idSchema("risk").safeParse("A".repeat(MEBIBYTE)).success).toBe(false);
});

test.each([
	["https://example.com", true],
	["http://example.com/path?x#y", true],
	["http://a", true],
	["https://", false],
	["https:///path", false],
	["https:e.com", false],
	["ftp://example.com", false],
	["https://exa mple.com", false],
	[`http://${"a".repeat(2000)} `, false],
] as const)("the validity of the web address %s is %s", (text, isValid) => {
	expect(urlSchema().safeParse(text).success).toBe(isValid);
});

test.each([
	["ada@example.com", true],
	["ada.b+c@mail.example.com", true],
	["ada@example", false],
	["ada@example.", false],
	["ada@.com", false],
	["@example.com", false],
	["ada@b@example.com", false],
	["a da@example.com", false],
	["<ada@example.com>", false],
] as const)("the validity of the e-mail address %s is %s", (text, isValid) => {
	expect(emailSchema().safeParse(text).success).toBe(isValid);
});

test("the JSON Schema of a text contains its maximum length", () => {
	expect(z.toJSONSchema(urlSchema())).toMatchObject({ maxLength: 2048 });
});
