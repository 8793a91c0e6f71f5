import fc from "fast-check";
import { expect, test } from "vitest";
import {
	hasMistyped,
	mistypedPatterns,
} from "../../src/records/typing-mistakes.ts";

const letter = fc.constantFrom(..."abcdefghij".split(""));

/** A word and the same word with one typing mistake. */
const mistake = (minLength: number) =>
	fc
		.record({
			letters: fc.array(letter, { minLength, maxLength: 14 }),
			at: fc.nat(),
			wrong: letter,
			kind: fc.constantFrom("exchanged", "wrong", "more", "less"),
		})
		.map(({ letters, at: place, wrong, kind }) => {
			const at = place % letters.length;
			const next = Math.min(at + 1, letters.length - 1);
			const typed = {
				exchanged: () =>
					letters.with(at, letters[next] ?? "").with(next, letters[at] ?? ""),
				wrong: () => letters.with(at, wrong),
				more: () => letters.toSpliced(at, 0, wrong),
				less: () => letters.toSpliced(at, 1),
			}[kind]();
			return { word: letters.join(""), typed: typed.join("") };
		})
		.filter(({ word, typed }) => !word.startsWith(typed));

/** Returns true if PostgreSQL's LIKE would match the text. */
const isLike = (text: string, pattern: string) =>
	new RegExp(`^${pattern.replaceAll("%", ".*").replaceAll("_", ".")}$`).test(
		text,
	);

const found = (word: string, typed: string) =>
	mistypedPatterns(typed).some((pattern) => isLike(`the ${word} is`, pattern));

test("each mistake in a word of nine or more letters is found and recognized", () => {
	fc.assert(
		fc.property(mistake(9), ({ word, typed }) => {
			expect(found(word, typed)).toBe(true);
			expect(hasMistyped(`the ${word} is`, typed)).toBe(true);
		}),
		{ numRuns: 2000 },
	);
});

test("each mistake in a word of seven or eight letters is found and recognized too", () => {
	fc.assert(
		fc.property(
			mistake(7).filter(({ word }) => word.length < 9),
			({ word, typed }) => {
				expect(found(word, typed)).toBe(true);
				expect(hasMistyped(`the ${word} is`, typed)).toBe(true);
			},
		),
		{ numRuns: 2000 },
	);
});

test("the patterns are few, and each has three letters in a row for the index", () => {
	fc.assert(
		fc.property(
			fc.array(letter, { minLength: 4, maxLength: 30 }),
			(letters) => {
				const word = letters.join("");
				const patterns = mistypedPatterns(word);
				expect(patterns.length).toBeGreaterThan(0);
				expect(patterns.length).toBeLessThanOrEqual(2 * word.length + 14);
				for (const pattern of patterns) {
					const parts = pattern
						.slice(1, -1)
						.split("_")
						.map(({ length }) => length);
					expect(Math.max(...parts)).toBeGreaterThanOrEqual(3);
				}
			},
		),
	);
});
