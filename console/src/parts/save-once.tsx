import { Alert, Button, Group, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";

/** The state of a dialog with secrets that it shows only once. */
export interface SaveOnce {
	/** True while nobody has saved the secrets. */
	mustSave: boolean;
	/** True after the reader tried to close the dialog or to leave the page without saving. */
	isAsking: boolean;
	/** Closes the dialog. Asks first if the secrets are not saved. */
	leave: () => void;
	/** Closes the dialog without asking. */
	close: () => void;
	noteSaved: () => void;
}

/**
 * Guards secrets that are shown only once: closing their dialog or leaving the page asks first,
 * until they are saved. `hasSecrets` is true as soon as the dialog shows them.
 */
export function useSaveOnce(hasSecrets: boolean, close: () => void): SaveOnce {
	const [isSaved, setSaved] = useState(false);
	const [isAsking, setAsking] = useState(false);
	const mustSave = hasSecrets && !isSaved;
	useBlocker({
		shouldBlockFn: () => {
			if (mustSave) setAsking(true);
			return mustSave;
		},
		enableBeforeUnload: () => mustSave,
	});
	return {
		mustSave,
		isAsking: isAsking && mustSave,
		leave: () => (mustSave ? setAsking(true) : close()),
		close,
		noteSaved: () => setSaved(true),
	};
}

/**
 * The buttons that save the secrets and close the dialog, and the question before they are lost. A
 * single secret has no `onSave`, because its reader copies it.
 */
export function SaveOnceButtons({
	secrets,
	consequence,
	once: { mustSave, isAsking, leave, close, noteSaved },
	onSave,
}: {
	/** The word for the secrets, such as "tokens". */
	secrets: string;
	/** Says what people have to do if the secrets are lost. */
	consequence: string;
	once: SaveOnce;
	onSave?: () => void;
}) {
	return (
		<>
			{isAsking && (
				<Alert
					color="orange"
					variant="outline"
					title={`The ${secrets} ${onSave ? "are" : "is"} lost when you close`}
				>
					<Text size="sm" mb="sm">
						{onSave ? "You have not saved them." : "You have not copied it."}{" "}
						{consequence}
					</Text>
					<Button size="xs" variant="default" onClick={close}>
						Close without the {secrets}
					</Button>
				</Alert>
			)}
			<Group justify="flex-end">
				{onSave && (
					<Button
						variant={mustSave ? "filled" : "default"}
						leftSection={<IconDownload size={16} aria-hidden />}
						onClick={() => {
							onSave();
							noteSaved();
						}}
					>
						Save the {secrets} as CSV
					</Button>
				)}
				<Button variant={mustSave ? "default" : "filled"} onClick={leave}>
					Done
				</Button>
			</Group>
		</>
	);
}
