import {
	Alert,
	Button,
	Group,
	Modal,
	type ModalProps,
	Text,
} from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useBlocker } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Copied } from "./copy-field.tsx";

/** The state of a dialog with secrets that it shows only once. */
export interface SaveOnce {
	/** True as soon as the dialog shows the secrets. */
	hasSecrets: boolean;
	/** True while nobody has saved the secrets. */
	mustSave: boolean;
	/** True after the reader tried to close the dialog or to leave the page without saving. */
	isAsking: boolean;
	/** Closes the dialog. Asks first if the secrets are not saved. */
	leave: () => void;
	/** Closes the dialog without asking. */
	close: () => void;
	noteSaved: () => void;
	noteCopied: (text: string) => void;
}

/**
 * Guards secrets that are shown only once. Until they are saved, closing their dialog and leaving
 * the page ask first. `secrets` is empty or null as long as the dialog shows none.
 */
export function useSaveOnce(
	secrets: string | readonly string[] | null | undefined,
	close: () => void,
): SaveOnce {
	const [isSaved, setSaved] = useState(false);
	const [isAsking, setAsking] = useState(false);
	const isClosing = useRef(false);
	const all = [secrets ?? []].flat();
	const hasSecrets = all.length > 0;
	const mustSave = hasSecrets && !isSaved;
	useBlocker({
		shouldBlockFn: () => {
			// Some dialogs close by a change of the address.
			const blocks = mustSave && !isClosing.current;
			if (blocks) setAsking(true);
			return blocks;
		},
		enableBeforeUnload: () => mustSave,
		disabled: !mustSave,
	});
	const closeNow = () => {
		isClosing.current = true;
		close();
	};
	return {
		hasSecrets,
		mustSave,
		isAsking: isAsking && mustSave,
		leave: () => (mustSave ? setAsking(true) : closeNow()),
		close: closeNow,
		noteSaved: () => setSaved(true),
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
		<Modal
			opened
			onClose={once.leave}
			closeButtonProps={{ "aria-label": "Close" }}
			{...rest}
		>
			<Copied value={once.noteCopied}>{children}</Copied>
		</Modal>
	);
}

/**
 * The question before the secrets are lost, and the buttons that save them and close the dialog. A
 * single secret has no `save`, because its reader copies it.
 */
export function SaveOnceButtons({
	secrets,
	consequence,
	once: { hasSecrets, mustSave, isAsking, close, noteSaved },
	save,
}: {
	/** The word for the secrets, such as "tokens". */
	secrets: string;
	/** Says what people have to do if the secrets are lost. */
	consequence: string;
	once: SaveOnce;
	/** The button that saves several secrets in a file. */
	save?: { label: string; onClick: () => void };
}) {
	const done = save ? "I have saved them" : "I have copied it";
	return (
		<>
			{isAsking && (
				<Alert
					ref={scrollTo}
					color="orange"
					variant="outline"
					title={`The ${secrets} ${save ? "are" : "is"} lost when you close`}
				>
					<Text size="sm" mb="sm">
						{save ? "You have not saved them." : "You have not copied it."}{" "}
						{consequence}
					</Text>
					<Button size="xs" variant="default" onClick={close}>
						Close without the {secrets}
					</Button>
				</Alert>
			)}
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

/** Shows the question in a dialog that is longer than the window. */
function scrollTo(question: HTMLElement | null): void {
	question?.scrollIntoView({ block: "nearest" });
}
