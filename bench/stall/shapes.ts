/** Makes a text of about `bytes` bytes as JSON. */
export type Shape = (bytes: number) => string;

/** Texts whose length or shape is the worst case for some check. */
export const TEXTS: Record<string, Shape> = {
	letters: (bytes) => "a".repeat(bytes),
	blanks: (bytes) => " ".repeat(bytes),
	"an address that ends in a blank": (bytes) =>
		`http://${"a".repeat(bytes - 8)} `,
	"an e-mail address without end": (bytes) => `a@${"a.".repeat(bytes / 2)}`,
	separators: (bytes) => ",;".repeat(bytes / 2),
	quotes: (bytes) => '"'.repeat(bytes / 2),
	"control characters": (bytes) => "\u0001".repeat(bytes / 6),
	"half surrogates": (bytes) => "\ud800".repeat(bytes / 6),
	"combining characters": (bytes) => "e\u0301".repeat(bytes / 3),
	"surrogate pairs": (bytes) => "\u{1f600}".repeat(bytes / 4),
	"one character with many marks": (bytes) => `e${"\u0301".repeat(bytes / 2)}`,
	"wildcards and backslashes": (bytes) => "%_\\".repeat(bytes / 4),
	"almost a date": (bytes) => `2026-01-31T00:00:00.${"0".repeat(bytes)}`,
	"almost a list of numbers": (bytes) => "NC-00".repeat(bytes / 5),
	digits: (bytes) => "9".repeat(bytes),
};

/** Returns the first `length` characters of a text of this shape. */
export function fill(shape: Shape, length: number): string {
	return shape(length * 6)
		.slice(0, length)
		.padEnd(length, "a");
}

/** Complete JSON bodies whose shape is the worst case for the service. */
export const BODIES: Record<string, (bytes: number) => string> = {
	"deep arrays": (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
	"deep objects": (bytes) =>
		`${'{"a":'.repeat(bytes / 6)}1${"}".repeat(bytes / 6)}`,
	"many unknown keys": (bytes) =>
		`{${Array.from({ length: bytes / 12 }, (_, n) => `"k${n}":1`).join()}}`,
	"a long number": (bytes) => `{"size":${"9".repeat(bytes - 10)}}`,
	"broken JSON": (bytes) => `{"a":"${"a".repeat(bytes - 8)}`,
	"an array in place of an object": (bytes) =>
		`[${"1,".repeat(bytes / 2 - 2)}1]`,
};

/** Values for a field that takes an array, which are the worst case for some check. */
export const LISTS: Record<string, (bytes: number) => unknown[]> = {
	"19,000 texts": (bytes) =>
		Array.from({ length: 19_000 }, (_, n) =>
			`${n}`.padEnd(Math.floor(bytes / 19_000) - 4, "a"),
		),
	"many empty texts": (bytes) => Array(Math.floor(bytes / 4)).fill(""),
	"many ids": (bytes) => Array(Math.floor(bytes / 36)).fill("A".repeat(32)),
	"many objects": (bytes) => Array(Math.floor(bytes / 4)).fill({}),
	"many pairs of numbers": (bytes) =>
		Array.from({ length: 9_500 }, () => [1, 2]).slice(0, bytes),
	"deep lists": () => [nested(60, (inner) => [inner])],
};

/** Values for a field that takes an object. */
export const OBJECTS: Record<string, () => object> = {
	"many unknown names": () =>
		Object.fromEntries(Array.from({ length: 9_500 }, (_, n) => [`k${n}`, n])),
	"long unknown names": () =>
		Object.fromEntries(
			Array.from({ length: 100 }, (_, n) => [`${n}${"k".repeat(5_000)}`, n]),
		),
	"deep objects": () => nested(60, (inner) => ({ a: inner })),
};

function nested(levels: number, around: (inner: object) => object): object {
	let value: object = {};
	for (let level = 0; level < levels; level++) value = around(value);
	return value;
}

/** CSV files for an import of assets. */
export const FILES: Record<string, (bytes: number) => string> = {
	"10,000 new assets": (bytes) =>
		csvOf(10_000, () => `1,PHYSICAL,"${"x".repeat(bytes / 10_000 - 60)}",`),
	"10,000 wrong lines": () => csvOf(10_000, () => ",,\u0001,"),
	"long cells": (bytes) =>
		csvOf(15, () => `1,PHYSICAL,"${"x".repeat(bytes / 17)}",`),
	"cells of 64 KiB that end like formulas": () =>
		csvOf(250, () => `1,PHYSICAL,"${"'".repeat(65_530)}=",`),
	"lines of separators": (bytes) =>
		csvOf(10_000, () => ",".repeat(bytes / 10_000 - 20)),
	"lines of quotes": (bytes) =>
		csvOf(15, () => `1,PHYSICAL,"${'""'.repeat(bytes / 40)}",`),
	"one quoted cell": (bytes) =>
		csvOf(1, () => `1,PHYSICAL,"${"x".repeat(bytes - 90)}",`),
	"a heading without end": (bytes) => ",".repeat(bytes),
	"five different vendors a line": () =>
		csvOf(
			9_999,
			(n) =>
				`1,PHYSICAL,,${[1, 2, 3, 4, 5].map((m) => `v${m}.${n}`).join(";")}`,
		),
	"a hundred different vendors a line": () =>
		csvOf(
			9_999,
			(n) =>
				`1,PHYSICAL,,${Array.from({ length: 100 }, (_, m) => `v${m}.${n}`).join(";")}`,
		),
};

function csvOf(count: number, rest: (line: number) => string): string {
	const lines = Array.from({ length: count }, (_, n) => `a${n},${rest(n)}`);
	return `name,amount,asset_type,data_types_stored,vendors\n${lines.join("\n")}\n`;
}

/** Evidence of a check that fills a report of 1 MiB with 100 results. */
export const EVIDENCE: Record<string, (result: number) => object> = {
	"long lists": () => ({ a: Array(1_000).fill({ b: "x" }) }),
	"long texts": () => ({ a: "e\u0301".repeat(3_300) }),
	"other names in each": (result) =>
		Object.fromEntries(
			Array.from({ length: 700 }, (_, n) => [`k${n}.${result}`, n]),
		),
	"nested objects": () => nested(30, (inner) => ({ a: inner })),
	"very many values": () => ({ a: Array(5_000).fill(0) }),
};

/** Returns a report with as many checks as one may have. */
export function fullReport(
	name: string,
	evidence: (result: number) => object,
): string {
	const results = Array.from({ length: 100 }, (_, n) => ({
		check_key: `${name} ${n} `.padEnd(200, "x"),
		status: "FAIL",
		evidence: evidence(n),
		observed_at: "2026-01-01T00:00:00.123456789+01:00",
	}));
	return JSON.stringify({ results });
}
