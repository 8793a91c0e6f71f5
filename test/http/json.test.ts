import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson, requireLimitedShape } from "../../src/http/json.ts";
import { anyUnicode } from "../support/any-unicode.ts";

/** Generates any UTF-16 text, including lone surrogates and U+0000. */
const anyText = fc
	.array(
		fc.oneof(
			fc.integer({ min: 0, max: 0xffff }),
			fc.integer({ min: 0xd7ff, max: 0xe000 }),
			fc.constantFrom(0, 0x5c, 0x22, 0x75, 0x30),
		),
		{ maxLength: 20 },
	)
	.map((units) => String.fromCharCode(...units));

const storable = (text: string) =>
	text.toWellFormed().replaceAll("\0", "\ufffd");

/** Returns the text with every UTF-16 unit written as an escape, in upper or lower case. */
const escaped = (text: string, isUpper: boolean) =>
	`"${Array.from({ length: text.length }, (_, i) => {
		const digits = text.charCodeAt(i).toString(16).padStart(4, "0");
		return `\\u${isUpper ? digits.toUpperCase() : digits}`;
	}).join("")}"`;

describe("any string", () => {
	test("written by JSON.stringify is read unchanged, except that U+0000 and lone surrogates become U+FFFD", () => {
		fc.assert(
			fc.property(anyText, (text) => {
				expect(parseJson(JSON.stringify(text))).toBe(storable(text));
			}),
			{ numRuns: 500 },
		);
	});

	test("written in escapes, in upper or lower case, is read in the same way", () => {
		fc.assert(
			fc.property(anyText, fc.boolean(), (text, isUpper) => {
				expect(parseJson(escaped(text, isUpper))).toBe(storable(text));
			}),
			{ numRuns: 500 },
		);
	});

	test("as a key is treated like a value, at any depth", () => {
		fc.assert(
			fc.property(anyText, anyText, (key, text) => {
				const parsed = parseJson(
					`[{"a":{${JSON.stringify(key)}:[${JSON.stringify(text)}]}}]`,
				);
				expect(JSON.stringify(parsed)).toBe(
					`[{"a":{${JSON.stringify(storable(key))}:[${JSON.stringify(storable(text))}]}}]`,
				);
			}),
		);
	});
});

test("JSON without these characters is read in the same way as by JSON.parse", () => {
	fc.assert(
		fc.property(fc.json({ stringUnit: "grapheme" }), (text) => {
			fc.pre(!/\\u0000/.test(text));
			expect(parseJson(text)).toEqual(JSON.parse(text));
		}),
	);
});

test.each([
	[String.raw`"\u0000"`, "\ufffd"],
	[String.raw`"\\u0000"`, "\\u0000"],
	[String.raw`"\\\u0000"`, "\\\ufffd"],
	[String.raw`"\\\\u0000"`, "\\\\u0000"],
	[String.raw`"\ud83d\ude00"`, "\u{1f600}"],
	[String.raw`"\uD83D\uDE00"`, "\u{1f600}"],
	[String.raw`"\ud83d"`, "\ufffd"],
	[String.raw`"\ude00"`, "\ufffd"],
	[String.raw`"\ude00\ud83d"`, "\ufffd\ufffd"],
	[String.raw`"\ud83d\ud83d\ude00"`, "\ufffd\u{1f600}"],
	[String.raw`"\ud83d\u0000\ude00"`, "\ufffd\ufffd\ufffd"],
	[String.raw`"\ud83d\n\ude00"`, "\ufffd\n\ufffd"],
	[String.raw`"\ud83d\\ude00"`, "\ufffd\\ude00"],
	[String.raw`"\"\u0000\""`, '"\ufffd"'],
	[String.raw`"\uD7FF\uE000"`, "\ud7ff\ue000"],
])("%s", (text, expected) => {
	expect(parseJson(text)).toBe(expected);
});

test.each([
	"",
	" ",
	"{",
	'{"a":1,}',
	"'a'",
	"\u0000",
	'"\u0000"',
	String.raw`"\u000"`,
	String.raw`"\u0000`,
	String.raw`\u0000`,
	"NaN",
	"undefined",
	"1 2",
])("%j is a SyntaxError", (text) => {
	expect(() => parseJson(text)).toThrow(SyntaxError);
});

test("every text gives a value or a SyntaxError, never another error", () => {
	const text = fc.oneof(
		anyUnicode(),
		fc
			.array(
				fc.constantFrom(
					"\\u0000",
					"\\",
					'"',
					"u",
					"0",
					"\\ud800",
					"{",
					"}",
					":",
					",",
				),
			)
			.map((parts) => parts.join("")),
	);
	fc.assert(
		fc.property(text, (input) => {
			try {
				parseJson(input);
			} catch (error) {
				expect(error).toBeInstanceOf(SyntaxError);
			}
		}),
		{ numRuns: 500 },
	);
});

test("__proto__ is a key like any other", () => {
	const parsed = parseJson('{"__proto__":{"a":1}}') as object;
	expect(Object.keys(parsed)).toEqual(["__proto__"]);
	expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test("JSON with 64 levels and 20,000 keys and values is accepted, with any strings", () => {
	const strings = JSON.stringify({ a: '"[[[,,,'.repeat(20_000), b: "\\" });
	const nested = `${"[".repeat(64)}1${"]".repeat(64)}`;
	const wide = JSON.stringify(Array(20_001).fill(1));
	const long = `[${"9".repeat(999)}, ${"9".repeat(999)}]`;
	for (const text of [strings, nested, wide, long, "", '"open', '"\\'])
		expect(() => requireLimitedShape(text)).not.toThrow();
});

test("JSON with more levels or more values is rejected", () => {
	expect(() => requireLimitedShape("[".repeat(65))).toThrow(
		"at most 64 levels",
	);
	expect(() => requireLimitedShape('{"a":'.repeat(65))).toThrow(
		"at most 64 levels",
	);
	const wide = JSON.stringify(Array(20_002).fill(1));
	expect(() => requireLimitedShape(wide)).toThrow("at most 20000");
	const long = `{"size":${"9".repeat(1_001)}}`;
	expect(() => requireLimitedShape(long)).toThrow(
		"a number with more than 1000 characters",
	);
});
