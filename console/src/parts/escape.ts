import { useEffect, useRef } from "react";

/** A handler of the Escape key for each open dialog. The topmost dialog is the last. */
const open: { current: () => void }[] = [];

// Mantine's dialogs all listen, so one key would close a dialog and the one below it.
window.addEventListener(
	"keydown",
	(event) => {
		if (event.key !== "Escape" || event.isComposing) return;
		// An open list of options closes first.
		const { target } = event;
		const isOfList =
			target instanceof Element &&
			target.getAttribute("data-mantine-stop-propagation") === "true";
		if (!isOfList) open.at(-1)?.current();
	},
	{ capture: true },
);

/** Calls `onEscape` when the Escape key is pressed while this dialog is the topmost one. */
export function useEscape(isOpen: boolean, onEscape: () => void): void {
	const latest = useRef(onEscape);
	useEffect(() => {
		latest.current = onEscape;
	});
	useEffect(() => {
		if (!isOpen) return;
		open.push(latest);
		return () => {
			open.splice(open.indexOf(latest), 1);
		};
	}, [isOpen]);
}
