import { Button, Group, Modal, Text } from "@mantine/core";
import { type RouterHistory, useRouter } from "@tanstack/react-router";
import {
	type ReactNode,
	type RefObject,
	useEffect,
	useRef,
	useState,
} from "react";
import { useEscape } from "./escape.ts";

type Navigation = Parameters<
	Parameters<RouterHistory["block"]>[0]["blockerFn"]
>[0];

interface Guarded {
	/** The part of the page with the fields. */
	area: RefObject<HTMLElement | null>;
	/** True while something would be lost. */
	isNeeded: () => boolean;
	/** True while a request runs. The question then says so. */
	isSaving: boolean;
	/** False while a dialog is closed. */
	isOpen?: boolean;
	/** True if the fields stay when only the search of the address changes. */
	isOverPage?: boolean;
	/** True if the input is still there when the reader comes back. Only closing the tab then asks. */
	isKept?: boolean;
	/** Called if the fields are still there after the reader has left. */
	onLeft?: () => void;
}

/** The guards on the page. The topmost is the last. */
const guards: RefObject<Guarded>[] = [];

/** The element with the focus, or the one that last had it, in the area of a guard. */
let lastFocused: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	const isGuarded = guards.some(({ current: { area } }) =>
		area.current?.contains(target as Node),
	);
	if (isGuarded && target instanceof HTMLElement) lastFocused = target;
});

let isOff = false;

/** Lets the browser load another page without a question. */
export function stopGuarding(): void {
	isOff = true;
}

/**
 * Asks before the reader leaves and loses input, by a link, the browser's buttons, the search or by
 * closing the tab. Returns the question. A navigation that follows a saved form or a confirmed
 * action sets `ignoreBlocker`.
 */
export function useLeaveGuard(guarded: Guarded): ReactNode {
	const { isSaving, isOpen = true } = guarded;
	const router = useRouter();
	const { history } = router;
	const [wanted, setWanted] = useState<Navigation | null>(null);
	const latest = useRef(guarded);
	const isLeaving = useRef(false);
	useEffect(() => {
		latest.current = guarded;
	});
	useEffect(() => {
		if (!isOpen) return;
		guards.push(latest);
		const topmost = (isClosing = false) =>
			isOff
				? undefined
				: guards.findLast(
						({ current }) =>
							(isClosing || !current.isKept) && current.isNeeded(),
					);
		const unblock = history.block({
			// The question is not awaited here. The address would be that of the other page meanwhile, and
			// another press of the Back button would lead away from there.
			blockerFn: (navigation) => {
				if (topmost() !== latest || isWithinPage(navigation, latest.current)) {
					return false;
				}
				setWanted(navigation);
				return true;
			},
			enableBeforeUnload: () => topmost(true) === latest,
		});
		return () => {
			unblock();
			guards.splice(guards.indexOf(latest), 1);
			setWanted(null);
		};
	}, [history, isOpen]);
	useEffect(() => {
		if (!isSaving && !latest.current.isNeeded()) setWanted(null);
	}, [isSaving]);
	useEffect(
		() =>
			router.subscribe("onResolved", () => {
				if (!isLeaving.current) return;
				isLeaving.current = false;
				latest.current.onLeft?.();
			}),
		[router],
	);
	if (!wanted) return null;
	return (
		<Question
			isSaving={isSaving}
			isSignedOut={wanted.nextLocation.pathname === "/sign-in"}
			onStay={() => setWanted(null)}
			onLeave={() => {
				setWanted(null);
				isLeaving.current = true;
				repeat(history, wanted);
			}}
		/>
	);
}

/** True if code changes the search of the address, and the page with the dialog stays. */
function isWithinPage(
	{ action, currentLocation, nextLocation }: Navigation,
	{ isOverPage = false }: Guarded,
): boolean {
	return (
		isOverPage &&
		(action === "PUSH" || action === "REPLACE") &&
		nextLocation.pathname === currentLocation.pathname
	);
}

/** Repeats a navigation that was blocked. */
function repeat(
	history: RouterHistory,
	{ action, currentLocation, nextLocation }: Navigation,
): void {
	const { href, state } = nextLocation;
	const options = { ignoreBlocker: true };
	if (action === "PUSH") history.push(href, state, options);
	else if (action === "REPLACE") history.replace(href, state, options);
	else {
		const pages = state.__TSR_index - currentLocation.state.__TSR_index;
		history.go(pages, options);
	}
}

/** If the session has ended, the question says how the input can still be saved. */
function Question({
	isSaving,
	isSignedOut,
	onStay,
	onLeave,
}: {
	isSaving: boolean;
	isSignedOut: boolean;
	onStay: () => void;
	onLeave: () => void;
}) {
	useEscape(true, onStay);
	useEffect(() => () => lastFocused?.focus(), []);
	const { title, text, leave } = isSignedOut
		? SIGNED_OUT
		: isSaving
			? SAVING
			: UNSAVED;
	return (
		<Modal
			opened
			onClose={onStay}
			closeOnEscape={false}
			title={title}
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Text>{text}</Text>
			<Group justify="flex-end" mt="md">
				<Button variant="default" data-autofocus onClick={onStay}>
					Stay here
				</Button>
				{isSignedOut && (
					<Button component="a" href="/sign-in" target="_blank">
						Sign in in another tab
					</Button>
				)}
				<Button color="red.9" onClick={onLeave}>
					{leave}
				</Button>
			</Group>
		</Modal>
	);
}

const SIGNED_OUT = {
	title: "You are signed out",
	text: "Your input is still here but is not saved. Sign in in another tab, come back to this one, and save again.",
	leave: "Discard it",
};
const SAVING = {
	title: "Leave before this is done?",
	text: "The request is still running. If you leave now, you will not see whether it has succeeded.",
	leave: "Leave",
};
const UNSAVED = {
	title: "Leave without saving?",
	text: "Your input is not saved and will be lost.",
	leave: "Leave",
};
