/** Default properties of every picker. Typing narrows down its list. */
export const PICKER = {
	"data-picker": true,
	searchable: true,
	selectFirstOptionOnChange: true,
	// The focus alone does not open a list, so that the keyboard user can move through a form without
	// opening each one.
	openOnFocus: false,
	nothingFoundMessage: "Nothing matches",
} as const;

/**
 * Makes Enter in a picker with an open list choose an option instead of submitting the form. Enter
 * chooses the marked option, or else the first match. Mantine alone chooses only a marked option,
 * and it marks none in a list that arrives from the server after the typing. The listener is on the
 * document, so that Mantine handles the key first.
 */
export function listenToPickers(): void {
	document.addEventListener("keydown", (event) => {
		const picker = pickerOf(event);
		if (!picker || event.key !== "Enter" || event.defaultPrevented) return;
		if (picker.getAttribute("aria-expanded") !== "true") return;
		event.preventDefault();
		if (event.isComposing || picker.value.trim() === "") return;
		document
			.getElementById(picker.getAttribute("aria-controls") ?? "")
			?.querySelector<HTMLElement>(
				"[data-combobox-option]:not([data-combobox-disabled])",
			)
			?.click();
	});
	// When the user starts to type, the text replaces the chosen value instead of being added to its
	// name.
	let wasFocused = false;
	document.addEventListener("pointerdown", (event) => {
		wasFocused = event.target === document.activeElement;
	});
	document.addEventListener("click", (event) => {
		if (!wasFocused) pickerOf(event)?.select();
	});
}

function pickerOf({ target }: Event): HTMLInputElement | undefined {
	return target instanceof HTMLInputElement && target.dataset.picker
		? target
		: undefined;
}
