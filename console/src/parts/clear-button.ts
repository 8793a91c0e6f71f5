/**
 * Returns the properties of a button that clears a control. Keyboards and screen readers can reach
 * this button. Mantine hides its own clear button from both, so they would have no other way to
 * clear a search filter.
 */
export const clearButton = (label: string) => ({
	"aria-label": label,
	"aria-hidden": false,
	tabIndex: 0,
});
