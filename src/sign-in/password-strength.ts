import { isCommonPassword } from "./common-passwords.ts";
import { asHashed } from "./password-hash.ts";

/** Fewest letters outside the lists below that make a password somebody's own. */
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

/** Words that make up most of the usual lists of leaked passwords, together with digits. */
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
 * Returns a password without disguise, in the form in which it is judged. Letters in another shape
 * (full width, bold, in a circle) become plain ones, as they do for hashing. Invisible characters
 * are left out.
 */
export function asGuessed(password: string): string {
	return asHashed(password).replace(/[\p{Cf}\p{DI}]/gu, "");
}

/**
 * Returns why a password would be guessed although it is long enough, or undefined if there is no
 * reason. A password is weak in these cases:
 *
 * - It has few different characters.
 * - It repeats one piece.
 * - It has few letters besides common words, digits, runs over the keyboard and what everybody
 *   knows about its user (`about`: address, names).
 * - It is one of the most used passwords, with or without something around it.
 */
export function weaknessOf(
	password: string,
	about: readonly string[] = [],
): string | undefined {
	const text = asGuessed(password).toLowerCase();
	if (new Set(text).size < MIN_DISTINCT) {
		return "has very few different characters; choose a few words that only you would put together";
	}
	if (/^(.{1,8}?)\1+.{0,3}$/.test(text)) {
		return "repeats one piece; choose a few words that only you would put together";
	}
	const known = [...COMMON, ...about.flatMap(wordsIn)]
		// A longer word may contain a shorter one, so the longest come first.
		.sort((a, b) => b.length - a.length);
	const isGuessed = [text, withoutLeet(text)].some(
		(written) => ownLetters(written, known) < MIN_OWN,
	);
	const core = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
	return isGuessed || isCommonPassword(text) || isCommonPassword(core)
		? "is one of the first that somebody would try: common words, your name or address, or keys side by side; choose a few words that only you would put together"
		: undefined;
}

/** Returns how much, counted in letters, is left without the known words and the runs. */
function ownLetters(text: string, known: readonly string[]): number {
	let left = text;
	for (const word of known) left = left.replaceAll(word, " ");
	left = withoutRuns(left);
	const letters = [...left.matchAll(/\p{L}/gu)].length;
	// A digit is one of ten and a letter one of about thirty, and digits are mostly part of a date.
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
 * Returns how many characters, counted from `at`, are equal or follow each other on a keyboard or
 * in the alphabet.
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
 * Returns the words of at least three characters. Shorter ones are part of too many other words.
 */
function wordsIn(text: string): string[] {
	return asGuessed(text)
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word.length >= 3);
}
