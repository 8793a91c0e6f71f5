import { Alert, Button, Group, type ModalProps, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useIsMutating } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Copied } from "./copy-field.tsx";
import { Dialog } from "./dialog.tsx";

/** The state of a dialog or page with secrets that it shows only once. */
export interface SaveOnce {
	/** True as soon as the secrets are shown. */
	hasSecrets: boolean;
	/** True while a request runs whose answer may be a secret. Nothing closes until it has come. */
	isWaiting: boolean;
	/** True while nobody has saved the secrets. */
	mustSave: boolean;
	/** True after the reader tried to close the dialog or to leave the page without saving. */
	isAsking: boolean;
	/** Closes the dialog. Asks first if the secrets are not saved. Does nothing while it waits. */
	leave: () => void;
	/** Closes the dialog without asking. A page goes on to where the reader wanted to go. */
	close: () => void;
	noteSaved: () => void;
	/** Notes that the secrets are in use, so that nobody needs them any more. */
	noteUsed: () => void;
	noteCopied: (text: string) => void;
}

/**
 * Guards secrets that are shown only once. Until they are saved, closing their dialog and leaving
 * the page ask first. `secrets` is empty or null as long as none are shown. A page has no `close`.
 */
export function useSaveOnce(
	secrets: string | readonly string[] | null | undefined,
	close?: () => void,
): SaveOnce {
	const [isSaved, setSaved] = useState(false);
	const [isUsed, setUsed] = useState(false);
	const [isAsking, setAsking] = useState(false);
	const isClosing = useRef(false);
	const all = isUsed ? [] : [secrets ?? []].flat();
	const hasSecrets = all.length > 0;
	const mustSave = hasSecrets && !isSaved;
	const isWaiting = useIsMutating() > 0 && !hasSecrets;
	const blocked = useBlocker({
		shouldBlockFn: () => {
			// Some dialogs close by a change of the address.
			const blocks = mustSave && !isClosing.current;
			if (blocks) setAsking(true);
			return blocks;
		},
		enableBeforeUnload: () => mustSave || isWaiting,
		disabled: !mustSave && !isWaiting,
		withResolver: true,
	});
	const closeNow = () => {
		isClosing.current = true;
		if (close) {
			blocked.reset?.();
			close();
		} else blocked.proceed?.();
	};
	return {
		hasSecrets,
		isWaiting,
		mustSave,
		isAsking: isAsking && mustSave,
		leave: () => {
			if (mustSave) setAsking(true);
			else if (!isWaiting) closeNow();
		},
		close: closeNow,
		noteSaved: () => setSaved(true),
		noteUsed: () => setUsed(true),
		noteCopied: (text) => {
			if (all.every((secret) => text.includes(secret))) setSaved(true);
		},
	};
}

/**
 * A dialog that shows secrets once. The close button, the Escape key and a click outside all ask
 * before the secrets are lost. Copying the secrets in it, alone or in a command, saves them.
 */
export function SaveOnceModal({
	once,
	children,
	...rest
}: Omit<ModalProps, "opened" | "onClose"> & { once: SaveOnce }) {
	return (
		<Dialog opened isWaiting={once.isWaiting} onClose={once.leave} {...rest}>
			<Copied value={once.noteCopied}>{children}</Copied>
		</Dialog>
	);
}

interface Words {
	/** The word for the secrets, such as "tokens". */
	secrets: string;
	/** Says what people have to do if the secrets are lost. */
	consequence: string;
}

/** The question before secrets are lost. Renders nothing until the reader tries to leave. */
export function SaveOnceQuestion({
	secrets,
	consequence,
	once: { isAsking, close },
	areMany = false,
	leaving = "leave",
}: Words & {
	once: SaveOnce;
	areMany?: boolean;
	/** The word for what the reader tries to do. */
	leaving?: "leave" | "close";
}) {
	if (!isAsking) return null;
	return (
		<Alert
			ref={scrollTo}
			color="orange"
			variant="outline"
			title={`The ${secrets} ${areMany ? "are" : "is"} lost when you ${leaving}`}
		>
			<Text size="sm" mb="sm">
				{areMany ? "You have not saved them." : "You have not copied it."}{" "}
				{consequence}
			</Text>
			<Button size="xs" variant="default" onClick={close}>
				{leaving === "leave" ? "Leave" : "Close"} without the {secrets}
			</Button>
		</Alert>
	);
}

/**
 * The question before the secrets are lost, and the buttons that save them and close the dialog. A
 * single secret has no `save`, because its reader copies it.
 */
export function SaveOnceButtons({
	once,
	save,
	areMany = save !== undefined,
	...words
}: Words & {
	once: SaveOnce;
	/** The button that saves several secrets in a file. */
	save?: { label: string; onClick: () => void };
	areMany?: boolean;
}) {
	const { hasSecrets, mustSave, close, noteSaved } = once;
	const done = areMany
		? "I have saved them"
		: save
			? "I have saved it"
			: "I have copied it";
	return (
		<>
			<SaveOnceQuestion
				{...words}
				once={once}
				areMany={areMany}
				leaving="close"
			/>
			<Group justify="flex-end">
				{save && (
					<Button
						variant={mustSave ? "filled" : "default"}
						leftSection={<IconDownload size={16} aria-hidden />}
						onClick={() => {
							save.onClick();
							noteSaved();
						}}
					>
						{save.label}
					</Button>
				)}
				<Button
					variant={save && mustSave ? "default" : "filled"}
					onClick={close}
				>
					{hasSecrets ? done : "Done"}
				</Button>
			</Group>
		</>
	);
}

/** Shows the question in a dialog or page that is longer than the window. */
function scrollTo(question: HTMLElement | null): void {
	question?.scrollIntoView({ block: "nearest" });
}
