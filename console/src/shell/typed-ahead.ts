const MAX_WAIT_MS = 10_000;

/**
 * Records what the user types from now on, for a field that is about to appear. The returned
 * function ends this and returns the text. Further calls return an empty text.
 */
export function keepTyping(): () => string {
	let text = "";
	const listen = (event: KeyboardEvent) => {
		const { key, ctrlKey, metaKey, altKey, isComposing } = event;
		if (ctrlKey || metaKey || altKey || isComposing) return;
		if (key === "Backspace") text = text.slice(0, -1);
		else if (key.length === 1) text += key;
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
	window.addEventListener("keydown", listen, { capture: true });
	const end = () => {
		window.removeEventListener("keydown", listen, { capture: true });
		clearTimeout(timer);
		const kept = text;
		text = "";
		return kept;
	};
	// If the field never appears, the keyboard must work normally again.
	const timer = setTimeout(end, MAX_WAIT_MS);
	return end;
}
