const SMALL_WORDS = new Set(["a", "an", "the", "of", "this"]);

const wordsOf = (text: string) =>
	(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(
		(word) => !SMALL_WORDS.has(word),
	);

/**
 * Returns the help text of a field, or undefined if it only repeats the label and the noun of the
 * record, such as "Name of the asset" below "Name".
 */
export function helpBeside(
	label: string,
	help: string,
	noun: string,
): string | undefined {
	const known = new Set(wordsOf(`${label} ${noun}`));
	return wordsOf(help).every((word) => known.has(word)) ? undefined : help;
}
