import { type RefObject, useCallback, useEffect, useRef } from "react";

/**
 * Controls whose values would be lost. The value of a picker is in a hidden input, so the text that
 * searches its options does not count.
 */
const CONTROLS = "input:not([data-picker]), textarea, select";

const IS_CHECKED = new Set(["checkbox", "radio"]);

/** The events with which every change by a person begins. */
const BEGINNINGS = ["pointerdown", "keydown", "beforeinput", "focusin"];

/**
 * Compares the controls of a dialog with what they were before the person did anything. A control
 * that appears later is noted at the next key or click. What is in a search changes nothing, so it
 * does not count. A dialog above this one is not part of it.
 */
export function useChanges(
	body: RefObject<HTMLElement | null>,
	isOpen: boolean,
): { hasChanges: () => boolean; lastFocused: () => HTMLElement | null } {
	const first = useRef(new Map<Element, string>());
	const focused = useRef<HTMLElement>(null);
	useEffect(() => {
		if (!isOpen) return;
		const values = new Map<Element, string>();
		first.current = values;
		const note = ({ type, target }: Event) => {
			for (const control of body.current?.querySelectorAll(CONTROLS) ?? []) {
				if (values.has(control) || control.closest("[role=search]")) continue;
				values.set(control, enteredIn(control));
			}
			if (
				type === "focusin" &&
				target instanceof HTMLElement &&
				body.current?.contains(target)
			) {
				focused.current = target;
			}
		};
		for (const type of BEGINNINGS) document.addEventListener(type, note, true);
		return () => {
			for (const type of BEGINNINGS) {
				document.removeEventListener(type, note, true);
			}
		};
	}, [isOpen, body]);
	return {
		hasChanges: useCallback(
			() =>
				[...first.current].some(
					([control, value]) =>
						control.isConnected && enteredIn(control) !== value,
				),
			[],
		),
		lastFocused: useCallback(() => focused.current, []),
	};
}

function enteredIn(control: Element): string {
	if (control instanceof HTMLInputElement && IS_CHECKED.has(control.type)) {
		return String(control.checked);
	}
	const { type, value } = control as HTMLInputElement;
	// The hidden input of several choices has them in the order in which they were made.
	return type === "hidden" ? value.split(",").sort().join() : value;
}
