/** What every control has from which one picks; what is typed in it narrows the list. */
export const PICKER = {
	"data-picker": true,
	searchable: true,
	selectFirstOptionOnChange: true,
	// Who walks through a form by keyboard is not shown every list on the way.
	openOnFocus: false,
	nothingFoundMessage: "Nothing matches",
} as const;

/**
 * Enter in a picker whose list is open never sends the form around it: it takes what is marked,
 * else the first that matches what is typed. Mantine does the former; of a list that came from the
 * server after the typing it has marked none. Listens at the document, so that Mantine comes first.
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
	// What is typed replaces what was chosen, instead of being added to its name.
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
