import { useEffect } from "react";

const TRIES = 20;
const TRY_MS = 30;

/** What had the focus last outside every dialog, menu and list of choices. */
let opener: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (target instanceof HTMLElement && !isInside(target)) opener = target;
});

/**
 * When a dialog has closed, the focus goes back to what opened it; a dialog that was opened from
 * a menu, to the button of the menu. Mantine does so only where the dialog is there before it
 * opens, and not from a menu.
 */
export function useReturnFocus(isOpen = true): void {
	useEffect(() => {
		if (!isOpen) return;
		const back = opener;
		return () => returnTo(back, TRIES);
	}, [isOpen]);
}

/** Until the dialog is gone: it may fade. Where the focus is somewhere else by then, it stays. */
function returnTo(element: HTMLElement | null, tries: number): void {
	setTimeout(() => {
		const { activeElement, body } = document;
		if (activeElement && isInside(activeElement)) {
			if (tries > 0) returnTo(element, tries - 1);
		} else if (!activeElement || activeElement === body) {
			element?.focus();
		}
	}, TRY_MS);
}

function isInside(element: Element): boolean {
	return element.closest("[role=dialog],[role=menu],[role=listbox]") !== null;
}
