/** Shortest plural that is taken for one. "AWS" and "news" are words of their own. */
const SHORTEST_PLURAL = 5;
const SHORTEST_SINGULAR = 4;

/**
 * Returns the beginnings by which the singular and the plural of an English noun are found: "policy"
 * and "policies" for either of them, and "control" for "controls". Other words, such as "access" and
 * "analysis", are returned as they are.
 *
 * The rules only shorten a plural, or exchange "y" and "ies". A dictionary of stems would also take
 * "organize" and "organization" for one word, and names of products and people for English words.
 */
export function wordForms(word: string): string[] {
	const { length } = word;
	if (length >= SHORTEST_SINGULAR && /[b-df-hj-np-tv-xz]y$/i.test(word)) {
		return [word, `${word.slice(0, -1)}ies`];
	}
	if (length < SHORTEST_PLURAL || !/^[a-z]+s$/i.test(word)) return [word];
	// "cookies" has the singular "cookie".
	if (/ies$/i.test(word)) return [word.slice(0, -1), `${word.slice(0, -3)}y`];
	if (/(ss|x|ch|sh)es$/i.test(word)) return [word.slice(0, -2)];
	return /[siu]s$/i.test(word) ? [word] : [word.slice(0, -1)];
}
