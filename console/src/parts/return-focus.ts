import { type RefObject, useEffect } from "react";

const TRIES = 20;
const TRY_MS = 30;

/** The element outside of dialogs, menus and option lists that last had the focus. */
let opener: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (target instanceof HTMLElement && !isInside(target)) opener = target;
});

/**
 * Returns the focus when a dialog closes. The focus goes to the element that opened the dialog, or
 * to the button of the menu from which it was opened. Mantine does this only for a dialog that is
 * mounted before it opens, and not for one that was opened from a menu. `from` is the element that
 * had the focus before, for a dialog that a key opens, also above another dialog.
 */
export function useReturnFocus(
	isOpen = true,
	from?: RefObject<Element | null>,
): void {
	useEffect(() => {
		if (!isOpen) return;
		const before = from?.current;
		const back = before instanceof HTMLElement ? before : opener;
		return () => returnTo(back, TRIES);
	}, [isOpen, from]);
}

/**
 * Waits until the dialog has disappeared, because it may fade out, and then moves the focus. If the
 * focus is on another element by then, it stays there.
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
