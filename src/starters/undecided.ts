import type { Values } from "../records/values.ts";

/**
 * Begins the note of a risk from the starter set. Every risk must have a treatment, so a suggested
 * risk is stored as mitigated before anybody has decided about it. This mark tells both apart.
 */
export const UNDECIDED_NOTE =
	"Suggested by Assay. Nobody has decided about its treatment and scores yet. Delete this note when somebody has.";

/** Stands for the treatment of a risk that nobody has decided about, in files and in the console. */
export const NOT_DECIDED = "NOT_DECIDED";

/** The treatment that a risk is stored with before anybody has decided about it. */
export const UNDECIDED_TREATMENT = "MITIGATED";

/**
 * SQL that is true for a risk `t` that nobody has decided about. An earlier version kept the mark
 * when somebody gave another treatment, so the mark alone says nothing.
 */
export const IS_UNDECIDED_SQL = `t.treatment = '${UNDECIDED_TREATMENT}' and starts_with(coalesce(t.note, ''), '${UNDECIDED_NOTE}')`;

/** SQL that is true for a risk `t` that somebody has accepted. */
export const IS_ACCEPTED_SQL = "t.treatment = 'ACCEPTED'";

/** SQL that is true for a risk `t` about which somebody has decided, and not accepted it. */
export const IS_DECIDED_OTHERWISE_SQL = `(t.treatment <> 'ACCEPTED' and not (${IS_UNDECIDED_SQL}))`;

/** Returns whether nobody has decided about a risk with this treatment and note. */
export function isUndecided(treatment: unknown, note: unknown): boolean {
	return treatment === UNDECIDED_TREATMENT && hasMark(note);
}

export function hasMark(note: unknown): note is string {
	return typeof note === "string" && note.startsWith(UNDECIDED_NOTE);
}

/** Returns what people wrote into the note, or null if they wrote nothing. */
export function withoutMark(note: unknown): unknown {
	if (!hasMark(note)) return note;
	return note.slice(UNDECIDED_NOTE.length).trimStart() || null;
}

/** Returns the note with the mark before it. */
export function withMark(note: unknown): string {
	const own = withoutMark(note);
	return typeof own === "string" && own !== ""
		? `${UNDECIDED_NOTE}\n${own}`
		: UNDECIDED_NOTE;
}

/**
 * Returns the note of a risk after somebody has given its treatment. Whoever gives one has decided,
 * also if it is the stored one. A note that gets the mark together with the treatment keeps it, so
 * that a decision can be undone.
 */
export function followTreatment(
	before: Values,
	{ treatment, note = before.note }: Values,
): Values {
	return treatment !== undefined && hasMark(before.note)
		? { note: withoutMark(note) }
		: {};
}

/** A risk in a CSV file. A file says `NOT_DECIDED` instead of the mark in the note. */
export const undecidedInCsv = {
	choices: { treatment: [NOT_DECIDED] },
	write: (row: Values): Values =>
		row.is_undecided === true
			? { ...row, treatment: NOT_DECIDED, note: withoutMark(row.note) }
			: row,
	read(given: Values, before: Values | undefined): Values {
		const { treatment, ...others } = given;
		const isGiven = treatment !== undefined && treatment !== NOT_DECIDED;
		const noteAs = (change: (note: unknown) => unknown) =>
			"note" in given ? { note: change(given.note) } : {};
		if (isGiven) return { ...given, ...noteAs(withoutMark) };
		if (before) {
			// A line without a treatment decides nothing, whatever it does with the note.
			return isUndecided(before.treatment, before.note)
				? { ...others, ...noteAs((note) => markedLike(before.note, note)) }
				: { ...others, ...noteAs(withoutMark) };
		}
		return treatment === NOT_DECIDED
			? {
					...others,
					treatment: UNDECIDED_TREATMENT,
					note: withMark(given.note),
				}
			: given;
	},
};

/** Returns the stored note if it has this text after the mark, so that nothing changes. */
export function markedLike(stored: unknown, note: unknown): unknown {
	return withoutMark(stored) === withoutMark(note) ? stored : withMark(note);
}
