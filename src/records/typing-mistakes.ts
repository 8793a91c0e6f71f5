/** Lengths of the words in which a typing mistake is looked for, in letters. */
const SHORTEST = 4;
const LONGEST = 30;

/** From this length on, one pattern leaves a window of letters open and covers several mistakes. */
const LONG = 8;

/** Length of the parts of words in the index of the texts. Shorter parts would read all of it. */
const TRIGRAM = 3;

/** Shortest word that is also compared with the beginnings of longer ones. */
const BEGINNING = 6;

/** Returns the words of a text. The index does not know the signs between them. */
export const lettersIn = (text: string): string[] =>
	text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns true for a word in which a typing mistake can be looked for. */
export function mayBeMistyped(word: string): boolean {
	const { length } = Array.from(word);
	return length >= SHORTEST && length <= LONGEST;
}

/**
 * Returns LIKE patterns for texts with a word that was typed with one mistake: two letters exchanged,
 * a wrong letter, one too many or one too few. The typed word has only letters and digits. The number
 * of patterns grows with its length. A short word has a pattern for each mistake. A long one has
 * fewer, which also match a few other words. Patterns that the index of the texts could not use are
 * left out.
 */
export function mistypedPatterns(word: string): string[] {
	const letters = Array.from(word);
	const { length } = letters;
	const patterns = new Set<string>();
	/** Adds a pattern for what is before `from` and from `until` on, and `gap` letters between. */
	const add = (from: number, gap: number, until: number) => {
		const [before, after] = [letters.slice(0, from), letters.slice(until)];
		const isOpen = before.length === 0 || after.length === 0;
		const space = isOpen ? 0 : gap;
		const longest =
			space === 0
				? before.length + after.length
				: Math.max(before.length, after.length);
		if (longest < TRIGRAM) return;
		patterns.add([...before, "_".repeat(space), ...after].join(""));
	};
	if (length >= LONG) {
		// Each mistake concerns one letter or two neighbors, which lie in one of these windows.
		for (let at = 0; at < length; at += 2) {
			for (const gap of [2, 3, 4]) add(at, gap, at + 3);
		}
	} else {
		for (let at = 0; at < length; at++) {
			add(at, 1, at + 1);
			add(at, 0, at + 1);
			if (at === 0) continue;
			add(at, 1, at);
			const exchanged = letters.with(at - 1, letters[at] ?? "");
			patterns.add(exchanged.with(at, letters[at - 1] ?? "").join(""));
		}
	}
	return [...patterns].map((pattern) => `%${pattern}%`);
}

/**
 * Returns true if a text has a word that differs from the given one by one mistake. Both are in the
 * form in which texts are searched.
 */
export function hasMistyped(text: string, word: string): boolean {
	const isBeginning = Array.from(word).length >= BEGINNING;
	return [...text.matchAll(/[\p{L}\p{N}]+/gu)].some(({ index }) =>
		endsOfMistyped(text.slice(index), word).some(
			(end) => isBeginning || !/^[\p{L}\p{N}]/u.test(text.slice(index + end)),
		),
	);
}

/** Returns where the word may end, with one mistake, if it stands at the beginning of the text. */
function endsOfMistyped(text: string, word: string): number[] {
	let same = 0;
	while (same < word.length && text[same] === word[same]) same++;
	const rest = word.slice(same);
	if (rest === "") return [];
	const ends = [];
	const isAt = (wanted: string, at: number) => text.startsWith(wanted, at);
	// One letter too many, a wrong one, one too few, and two that are exchanged.
	if (isAt(rest.slice(1), same)) ends.push(word.length - 1);
	if (isAt(rest.slice(1), same + 1)) ends.push(word.length);
	if (isAt(rest, same + 1)) ends.push(word.length + 1);
	if (rest.length > 1 && isAt(`${rest[1]}${rest[0]}${rest.slice(2)}`, same)) {
		ends.push(word.length);
	}
	return ends;
}
