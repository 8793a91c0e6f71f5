/** Defaults of every picker. Typing narrows its list. */
export const PICKER = {
	"data-picker": true,
	searchable: true,
	selectFirstOptionOnChange: true,
	// Focus alone does not open a list, so the keyboard moves through a form without opening each
	// one.
	openOnFocus: false,
	nothingFoundMessage: "Nothing matches",
} as const;

/**
 * Enter in a picker with an open list never submits the form. It takes the marked option, or else
 * the first that matches. Mantine takes a marked option, but marks none in a list that arrives from
 * the server after the typing. The listener is on the document, so Mantine handles the key first.
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
	// Typing replaces the chosen value instead of adding to its name.
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
