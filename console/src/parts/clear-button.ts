/**
 * A button inside a control that clears it, and that keyboards and screen readers reach. Mantine
 * hides its own from both, which leaves no other way to clear a search filter.
 */
export const clearButton = (label: string) => ({
	"aria-label": label,
	"aria-hidden": false,
	tabIndex: 0,
});
