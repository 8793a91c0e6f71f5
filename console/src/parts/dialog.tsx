import { Button, Group, Modal, type ModalProps, Text } from "@mantine/core";
import { useIsMutating } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useChanges } from "./dialog-changes.ts";
import { useEscape } from "./escape.ts";
import { LateModal } from "./late-modal.tsx";
import { useLeaveGuard } from "./leave-guard.tsx";

/**
 * A dialog that changes something. The Escape key, a click outside and the close button ask before
 * input is lost, and so does leaving the page. Cancel closes it at once, because nobody presses that
 * button by accident. While a request runs, neither the Escape key nor a click outside closes it,
 * and leaving the page asks, because the reader would not see whether the request failed.
 */
export function Dialog({
	isBusy = false,
	isWaiting,
	hasInput = false,
	onClose,
	children,
	...rest
}: Omit<ModalProps, "closeOnEscape"> & {
	/** True while several requests run. The dialog then has no close button either. */
	isBusy?: boolean;
	/** True while an answer must be waited for. By default, while any request runs. */
	isWaiting?: boolean;
	/** True if leaving the page loses something although nothing in the dialog has changed. */
	hasInput?: boolean;
}) {
	const isMutating = useIsMutating() > 0;
	const isSaving = (isWaiting ?? isMutating) || isBusy;
	const [isAsking, setAsking] = useState(false);
	const body = useRef<HTMLDivElement>(null);
	const { hasChanges, lastFocused } = useChanges(body, rest.opened);
	const close = () => {
		if (!isSaving && hasChanges()) setAsking(true);
		else onClose();
	};
	useEscape(rest.opened, () => {
		if (!isSaving) close();
	});
	const question = useLeaveGuard({
		area: body,
		isNeeded: () => isSaving || hasInput || hasChanges(),
		isSaving,
		isOpen: rest.opened,
		isOverPage: true,
		onLeft: onClose,
	});
	useEffect(() => {
		if (isAsking) return () => lastFocused()?.focus();
	}, [isAsking, lastFocused]);
	return (
		<>
			<LateModal
				closeOnClickOutside={!isSaving}
				withCloseButton={!isBusy}
				closeButtonProps={{ "aria-label": "Close" }}
				{...rest}
				closeOnEscape={false}
				onClose={close}
			>
				<div ref={body}>{children}</div>
			</LateModal>
			{isAsking && (
				<Discard
					onKeep={() => setAsking(false)}
					onDiscard={() => {
						setAsking(false);
						onClose();
					}}
				/>
			)}
			{question}
		</>
	);
}

function Discard({
	onKeep,
	onDiscard,
}: {
	onKeep: () => void;
	onDiscard: () => void;
}) {
	useEscape(true, onKeep);
	return (
		<Modal
			opened
			onClose={onKeep}
			closeOnEscape={false}
			title="Discard what you have entered?"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Text>Input that is not saved will be lost.</Text>
			<Group justify="flex-end" mt="md">
				<Button variant="default" data-autofocus onClick={onKeep}>
					Keep editing
				</Button>
				<Button color="red.9" onClick={onDiscard}>
					Discard it
				</Button>
			</Group>
		</Modal>
	);
}
