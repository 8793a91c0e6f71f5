/**
 * Words that say nothing about the place of a change. They are the words between the subjects of a
 * question, such as in "how many … may …" or "the text of …".
 */
const IGNORED = new Set(
	`a about all an and any are as at be been before but by called can change changes changing
	did do does each every find for from get gets give gives goes has have how i if in into is
	it its look many may me much must my names need new no not of on one or our says should so
	some somebody someone such tell text than that the their them then there these they this
	thing things to until use used uses want was we what when where whether which while who
	whose why will with without work works would you your`.split(/\s+/),
);

/** Endings from the outer to the inner one, each with the letters that must be left before it. */
const ENDINGS: [ending: RegExp, left: number][] = [
	[/(ies|ied)$/, 2],
	[/(ings?|ed|es|s)$/, 3],
	[/ments?$/, 5],
	[/(ations?|ates?)$/, 4],
	[/at$/, 5],
	[/ions?$/, 4],
	[/(ers?|ors?)$/, 5],
	[/[ey]$/, 3],
];

/**
 * Words that readers use for each other. The first search for a file uses the reader's word, which
 * is often not ours. A word may be in several groups.
 */
const GROUPS = `
	delay wait pause backoff
	retry again attempt
	maximum max most longest largest biggest highest limit
	minimum min least shortest smallest
	vary random jitter
	remind due soon
	stop shutdown end
	expire valid lifetime
	delete remove erase
	confirm dialog ask
	order sort
	allow permit accept
	refuse reject deny
	colour color
	picture image icon
	chart graph plot
	attribute field column property
	choice option select
	list table overview
	mail email
	chat slack teams
	login sign-in signin
	account user
	employee person people member
	company organization tenant
	right role access
	administrator admin root sudo
	broken failing failed failure
	error message
	mac macos
	start startup begin
	often every interval
	subprocess child
	gauge metric prometheus
	dashboard home overview
`
	.trim()
	.split("\n")
	.map((line) => line.trim().split(" ").map(stemOf));

/** Returns the stems that mean the same as a stem for a reader, without the stem itself. */
export function synonymsOf(stem: string): string[] {
	const groups = GROUPS.filter((group) => group.includes(stem));
	return [...new Set(groups.flat())].filter((other) => other !== stem);
}

/**
 * Returns the stems of a text. A word with hyphens, dots or underscores, such as `user-agent`, is in
 * the result whole and in parts.
 */
export function stemsOf(text: string): string[] {
	const whole = text.match(/[\p{L}\p{N}]+(?:[-._][\p{L}\p{N}]+)+/gu) ?? [];
	const parts = text
		.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word.length > 1 && !IGNORED.has(word));
	return [...whole.map((word) => word.toLowerCase()), ...parts.map(stemOf)];
}

/** Cuts a word so that `remind`, `reminded` and `reminder` are the same. */
export function stemOf(word: string): string {
	if (word.includes("-")) return word;
	let stem = word;
	for (const [ending, left] of ENDINGS) {
		const cut = stem.replace(ending, "");
		if (cut.length >= left) stem = cut;
	}
	return stem.length > 3 ? stem.replace(/(.)\1$/, "$1") : stem;
}
