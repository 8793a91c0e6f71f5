import fc from "fast-check";
import type { Body } from "./target.ts";

const deep = (open: string, inner: string, close: string, levels: number) =>
	open.repeat(levels) + inner + close.repeat(levels);

/**
 * JSON texts that JSON.stringify would never write or nobody would send, grouped by what is wrong
 * with them.
 */
const HOSTILE: Record<string, string[]> = {
	"deep JSON": [
		"[".repeat(20_000),
		deep("[", "", "]", 5_000),
		deep("[", "", "]", 100_000),
		deep('{"a":', "1", "}", 3_000),
		deep('[{"a":', "null", "}]", 1_000),
	],
	"__proto__ and the like": [
		'{"__proto__":{"a":1}}',
		'{"__proto__":null}',
		'{"constructor":{"prototype":{"a":1}}}',
		'{"a":{"__proto__":[]},"toString":1,"hasOwnProperty":null}',
		'["__proto__","constructor"]',
	],
	"huge numbers": [
		"1e400",
		"-1e999",
		"1e-400",
		"12345678901234567890123",
		"-9223372036854775809",
		"9".repeat(5_000),
		`0.${"1".repeat(5_000)}`,
		"[1e308,-1e308,2147483648,9007199254740993]",
	],
	"odd or broken JSON": [
		"",
		"null",
		"{",
		"[1,]",
		"NaN",
		"'a'",
		'{"a":1,"a":2}',
		'"\\ud800"',
		'"\\u0000"',
		`"${"x".repeat(20_000)}"`,
		"\ufeff{}",
		"{} trailing",
	],
};

/** Generates hostile bodies. All kinds are equally frequent. */
export const hostile: fc.Arbitrary<Body> = fc.oneof(
	...Object.entries(HOSTILE).map(([kind, texts]) =>
		fc.constantFrom(...texts).map((text) => ({ kind, text })),
	),
);

export const strangeText = fc.oneof(
	fc.string({ unit: "binary", maxLength: 20 }),
	fc
		.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
		.map((units) => String.fromCharCode(...units)),
	fc.constantFrom(
		"",
		"\0",
		"\ud800",
		"\udc00a",
		"__proto__",
		"constructor",
		"A".repeat(32),
		"x".repeat(6_000),
		"%",
		"_",
		"\\",
		"'; drop table risks; --",
		"\u202e",
		"😀".repeat(400),
		"1900-02-30",
		"9999-12-31",
		"+275760-09-13",
		"http://",
		"javascript:alert(1)",
		"\n",
		"NaN",
		"{}",
	),
);

export const strangeValue: fc.Arbitrary<unknown> = fc.oneof(
	{ weight: 3, arbitrary: strangeText },
	{
		weight: 2,
		arbitrary: fc.constantFrom<unknown>(
			null,
			true,
			0,
			-1,
			0.5,
			1e308,
			-1e308,
			2 ** 31,
			2 ** 53,
			-(2 ** 63),
			[],
			{},
			[[[]]],
			Array.from({ length: 300 }, () => "x"),
		),
	},
	{ weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Generates valid names and, now and then, invalid ones. */
export const text = fc.oneof(
	{ weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 30 }) },
	{ weight: 1, arbitrary: strangeText },
);

export function orStrange(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
	return fc.oneof(
		{ weight: 12, arbitrary: good },
		{ weight: 1, arbitrary: strangeValue },
	);
}

/** Returns the value as JSON text. A value that JSON cannot express becomes null. */
export function json(value: unknown): string {
	return JSON.stringify(value) ?? "null";
}

/** Generates objects from `good` in which a hostile value replaces one of `names` or is added. */
export function spoil(
	good: fc.Arbitrary<Record<string, unknown>>,
	names: string[],
): fc.Arbitrary<Body> {
	const name = fc.constantFrom(...names, ...names, "__proto__", "surplus");
	return fc.tuple(good, name, hostile).map(([input, name, { kind, text }]) => {
		const fields = Object.entries(input)
			.filter(([other]) => other !== name)
			.map(([other, value]) => `${json(other)}:${json(value)}`);
		return { kind, text: `{${[...fields, `${json(name)}:${text}`].join()}}` };
	});
}

/** Turns each text into a body of this kind. */
export function ofKind(
	kind: string,
	texts: fc.Arbitrary<string>,
): fc.Arbitrary<Body> {
	return texts.map((text) => ({ kind, text }));
}
