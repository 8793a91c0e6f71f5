import { type RefObject, useLayoutEffect } from "react";

const TRIES = 20;
const TRY_MS = 30;

/** What lies above the page. */
const LAYERS = "[role=dialog],[role=menu],[role=listbox]";

/** The element outside of dialogs, menus and option lists that last had the focus. */
let opener: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (target instanceof HTMLElement && !isInside(target)) opener = target;
});

/**
 * Returns the focus when a dialog closes. The focus goes to the element that opened the dialog, also
 * in another dialog, or to the button of the menu from which it was opened. Mantine does this only
 * for a dialog that is mounted before it opens, and not for one that was opened from a menu. `from`
 * is the element that had the focus before, for a dialog that a key opens.
 */
export function useReturnFocus(
	isOpen = true,
	from?: RefObject<Element | null>,
): void {
	// The new dialog takes the focus a moment after it is in the page.
	useLayoutEffect(() => {
		if (!isOpen) return;
		const before = from?.current ?? controlInDialog();
		const back = before instanceof HTMLElement ? [before, opener] : [opener];
		return () => returnTo(back, TRIES);
	}, [isOpen, from]);
}

/** Returns the element with the focus if it is in a dialog, and not in a list or menu above it. */
function controlInDialog(): Element | null {
	const { activeElement } = document;
	const layer = activeElement?.closest(LAYERS);
	return layer?.role === "dialog" ? activeElement : null;
}

/**
 * Waits until the dialog has disappeared, because it may fade out, and then moves the focus to the
 * first of the elements that is still in the page. If the focus is on another element by then, it
 * stays there.
 */
function returnTo(
	elements: readonly (HTMLElement | null)[],
	tries: number,
): void {
	setTimeout(() => {
		const { activeElement, body } = document;
		if (activeElement && isInside(activeElement)) {
			if (tries > 0) returnTo(elements, tries - 1);
		} else if (!activeElement || activeElement === body) {
			elements.find((element) => element?.isConnected)?.focus();
		}
	}, TRY_MS);
}

function isInside(element: Element): boolean {
	return element.closest(LAYERS) !== null;
}
