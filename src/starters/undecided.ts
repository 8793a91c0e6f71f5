/**
 * The note of a risk from the starter set. Every risk must have a treatment, so a suggested risk
 * has one before anybody has decided about it. The console marks each risk that has this note.
 */
export const UNDECIDED_NOTE =
	"Suggested by Assay. Nobody has decided about its treatment and scores yet. Delete this note when somebody has.";

/** SQL that is true for a risk `t` with the note. */
export const IS_UNDECIDED_SQL = `coalesce(t.note, '') = '${UNDECIDED_NOTE}'`;
