/**
 * The note of a risk from the starter set. A risk must have a treatment, and nobody has decided about
 * that of a suggested one. The console marks a risk that has this note.
 */
export const UNDECIDED_NOTE =
	"Suggested by Assay. Nobody has decided about its treatment and scores yet. Delete this note when somebody has.";
