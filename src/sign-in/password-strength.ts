import { isCommonPassword } from "./common-passwords.ts";
import { asHashed } from "./password-hash.ts";

/**
 * Smallest number of letters that a strong password has besides the words and runs listed below.
 */
const MIN_OWN = 5;
const MIN_DISTINCT = 5;
const DIGITS_PER_LETTER = 3;

const ROWS = [
	"abcdefghijklmnopqrstuvwxyz",
	"01234567890",
	"1234567890",
	"qwertyuiop",
	"qwertzuiop",
	"azertyuiop",
	"asdfghjkl",
	"zxcvbnm",
	"yxcvbnm",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
	"1q2w3e4r5t6y7u8i9o0p",
	"q1w2e3r4t5y6u7i8o9p0",
	"qazwsxedcrfvtgbyhnujmikolp",
];
const RUNS = [...ROWS, ...ROWS.map((row) => [...row].reverse().join(""))];
const MIN_RUN = 4;

/** Common words that, together with digits, make up most of the lists of leaked passwords. */
const COMMON = `
	password passwort passwd passw motdepasse contrasena parola kennwort secret geheim
	welcome willkommen bienvenue letmein login signin logon access admin administrator root user
	guest test testing demo default changeme change temp temporary system server computer internet
	iloveyou ilove love lovely sunshine princess superman batman dragon monkey tiger master shadow
	football baseball basketball soccer hockey liverpool arsenal chelsea barcelona juventus
	michael jennifer jordan michelle daniel ashley jessica charlie thomas robert andrew
	starwars pokemon minecraft fortnite killer freedom whatever trustno hello hallo bonjour
	summer winter spring autumn sommer herbst january february march april june july august
	september october november december monday tuesday wednesday thursday friday saturday sunday
	company office business security compliance google apple microsoft windows android samsung
	facebook linkedin qwerty qwertz azerty asdf abc assay
`
	.trim()
	.split(/\s+/);

const LEET: Record<string, string> = {
	"0": "o",
	"1": "i",
	"3": "e",
	"4": "a",
	"5": "s",
	"7": "t",
	"@": "a",
	$: "s",
	"!": "i",
};

/**
 * Returns the password in the form in which its strength is judged. Letters in another shape (full
 * width, bold, in a circle) become plain letters, as they do before hashing. Invisible characters
 * are removed.
 */
export function asGuessed(password: string): string {
	return asHashed(password).replace(/[\p{Cf}\p{DI}]/gu, "");
}

/**
 * Returns the reason why a password would be guessed although it is long enough. Returns undefined
 * if there is no reason. A password is weak in these cases:
 *
 * - It has few different characters.
 * - It repeats one piece.
 * - It has few letters besides common words, digits, neighboring keys and what everybody knows
 *   about its user (`about`: address, names).
 * - It is one of the most common passwords, with or without other characters around it.
 */
export function weaknessOf(
	password: string,
	about: readonly string[] = [],
): string | undefined {
	const text = asGuessed(password).toLowerCase();
	if (new Set(text).size < MIN_DISTINCT) {
		return "has too few different characters; choose a few words that only you would put together";
	}
	if (repeatsOnePiece(text)) {
		return "repeats the same characters; choose a few words that only you would put together";
	}
	const known = [...COMMON, ...about.flatMap(wordsIn)]
		// A longer word may contain a shorter one, so the longest words are removed first.
		.sort((a, b) => b.length - a.length);
	const isGuessed = [text, withoutLeet(text)].some(
		(written) => ownLetters(written, known) < MIN_OWN,
	);
	return isGuessed || isCommonPassword(text) || isCommonPassword(coreOf(text))
		? "is easy to guess, because it consists of common words, your name or address, or neighboring keys; choose a few words that only you would put together"
		: undefined;
}

/**
 * True if the text is a piece of up to 8 characters, at least twice, and up to 3 more characters.
 */
function repeatsOnePiece(text: string): boolean {
	return [1, 2, 3, 4, 5, 6, 7, 8].some((size) => {
		const piece = text.slice(0, size);
		let end = size;
		while (text.startsWith(piece, end)) end += size;
		return end >= 2 * size && text.length - end <= 3;
	});
}

/** Returns the text from its first letter to its last one. */
function coreOf(text: string): string {
	const words = [...text.matchAll(/\p{L}+/gu)];
	const [first, last] = [words[0], words.at(-1)];
	return first && last
		? text.slice(first.index, last.index + last[0].length)
		: "";
}

/**
 * Returns the number of letters that remain after the known words and the runs are removed.
 * Remaining digits count as a part of a letter.
 */
function ownLetters(text: string, known: readonly string[]): number {
	let left = text;
	for (const word of known) left = left.replaceAll(word, " ");
	left = withoutRuns(left);
	const letters = [...left.matchAll(/\p{L}/gu)].length;
	// There are only ten digits, but about thirty letters, and most digits are part of a date.
	// Several digits therefore count as one letter.
	return letters + [...left.matchAll(/\d/g)].length / DIGITS_PER_LETTER;
}

function withoutRuns(text: string): string {
	let left = "";
	for (let at = 0; at < text.length; ) {
		const length = runAt(text, at);
		if (length < MIN_RUN) left += text[at];
		at += length < MIN_RUN ? 1 : length;
	}
	return left;
}

/**
 * Returns the length of the run that begins at `at`. The characters of a run are equal, or follow
 * each other on a keyboard or in the alphabet.
 */
function runAt(text: string, at: number): number {
	let longest = 1;
	while (text[at + longest] === text[at]) longest++;
	for (const run of RUNS) {
		let length = longest + 1;
		while (
			at + length <= text.length &&
			run.includes(text.slice(at, at + length))
		) {
			longest = length++;
		}
	}
	return longest;
}

function withoutLeet(text: string): string {
	return [...text].map((letter) => LEET[letter] ?? letter).join("");
}

/**
 * Returns the words that have at least three characters. A shorter word is part of too many other
 * words.
 */
function wordsIn(text: string): string[] {
	return asGuessed(text)
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word.length >= 3);
}
