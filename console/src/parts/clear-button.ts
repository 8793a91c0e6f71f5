/**
 * The button within a control that empties it, reached by keyboard and by screen readers.
 * Mantine hides it from both, which leaves the filter of a search no other way out.
 */
export const clearButton = (label: string) => ({
	"aria-label": label,
	"aria-hidden": false,
	tabIndex: 0,
});
