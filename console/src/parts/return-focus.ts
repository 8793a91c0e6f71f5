import { useEffect } from "react";

const TRIES = 20;
const TRY_MS = 30;

/** The element outside dialogs, menus and option lists that had the focus last. */
let opener: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (target instanceof HTMLElement && !isInside(target)) opener = target;
});

/**
 * When a dialog closes, the focus returns to the element that opened it, or to the button of the
 * menu that it was opened from. Mantine does so only for a dialog that is mounted before it opens,
 * and not from a menu.
 */
export function useReturnFocus(isOpen = true): void {
	useEffect(() => {
		if (!isOpen) return;
		const back = opener;
		return () => returnTo(back, TRIES);
	}, [isOpen]);
}

/**
 * Waits until the dialog is gone, because it may fade out. If the focus is elsewhere by then, it
 * stays there.
 */
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
