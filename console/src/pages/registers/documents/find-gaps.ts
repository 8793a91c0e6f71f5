/**
 * Matches a gap of a template, such as [contact] or [5], also as the editor may escape it: \[IT\].
 * A link, a footnote and the box of a task are no gaps.
 */
const GAP =
	/(?<!\])\\?\[(?!\^)((?:[^[\]\\\n]|\\[^[\]\n]){2,80}|\d)\\?\](?![[(])/g;

/** Matches the number of a note, which stands directly behind a word: as shown[1]. */
const NOTE_NUMBER = /([\p{L}\d.,;!?)”])\\?\[\d{1,4}\\?\]/gu;

/** Matches a line that may give the address of a link: [1]: https://example.com "Title". */
const ADDRESS = /^ {0,3}\[([^[\]\n]+)\]:(.*)$/gm;

/** Returns true for an address with or without a title, which stands in quotes or brackets. */
function isAddress(text: string): boolean {
	const [address, title] = text.trim().split(/\s+/, 2);
	return !!address && (title === undefined || /^["'(]/.test(title));
}

/** Returns the gaps of a template that nobody has filled in, each once. */
export function gapsIn(markdown: string): string[] {
	const linked = new Set(
		[...markdown.matchAll(ADDRESS)]
			.filter(([, , text = ""]) => isAddress(text))
			.map(([, name]) => name),
	);
	const found = [...markdown.replace(NOTE_NUMBER, "$1").matchAll(GAP)]
		.map(([, words = ""]) => words)
		.filter((words) => !linked.has(words));
	return [
		...new Set(found.map((words) => `[${words.replace(/\\(?=\W)/g, "")}]`)),
	];
}
