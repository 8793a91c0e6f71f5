import {
	Button,
	FileButton,
	Group,
	Paper,
	Progress,
	Text,
	TextInput,
} from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { type DragEvent, useRef, useState } from "react";
import { ApiError, asSentence } from "../../api.ts";
import { forgetReadings } from "../../queries.ts";
import { uploadEvidence } from "../../upload.ts";
import { unfinishedDates } from "../unfinished-dates.ts";

interface Sending {
	key: number;
	name: string;
	/** From 0 to 1. */
	share: number;
	problem?: string;
}

let keys = 0;

/** Returns the message of an error. The name of the field adds nothing beside the file. */
function problemOf(error: Error): string {
	const [field] = error instanceof ApiError ? error.fields : [];
	return field ? asSentence(`The name ${field.message}`) : error.message;
}

/** Sends files as evidence of a record. Returns those that are on their way or were refused. */
export function useSending(recordId: string) {
	const [sending, setSending] = useState<Sending[]>([]);
	const send = async (files: readonly File[], validUntil: string) => {
		const begun = files.map((file) => ({ file, key: ++keys }));
		setSending((others) => [
			...others,
			...begun.map(({ file, key }) => ({ key, name: file.name, share: 0 })),
		]);
		const change = (key: number, part: Partial<Sending>) =>
			setSending((now) =>
				now.map((one) => (one.key === key ? { ...one, ...part } : one)),
			);
		// One after the other, because they share the line of the sender.
		for (const { file, key } of begun) {
			try {
				await uploadEvidence({ file, recordId, validUntil }, (share) =>
					change(key, { share }),
				);
				setSending((now) => now.filter((one) => one.key !== key));
			} catch (error) {
				change(key, { problem: problemOf(error as Error) });
			}
		}
		await forgetReadings();
	};
	const dismiss = ({ key }: Sending) =>
		setSending((now) => now.filter((one) => one.key !== key));
	return { sending, send, dismiss };
}

/** Takes files that are dropped or chosen, and the day until which they are valid. */
export function DropFiles({
	onFiles,
}: {
	onFiles: (files: readonly File[], validUntil: string) => void;
}) {
	const [isOver, setOver] = useState(false);
	const [validUntil, setValidUntil] = useState("");
	const [dateError, setDateError] = useState<string>();
	const area = useRef<HTMLDivElement>(null);
	// Without it, the same file could not be chosen twice.
	const forget = useRef<() => void>(null);
	const isDateFinished = () => {
		const error = unfinishedDates(area.current).valid_until;
		setDateError(error);
		return error === undefined;
	};
	const give = (files: readonly File[]) => {
		if (files.length === 0 || !isDateFinished()) return;
		onFiles(files, validUntil);
		// The next files are other evidence, which is valid until another day.
		setValidUntil("");
	};
	const drop = (event: DragEvent) => {
		event.preventDefault();
		setOver(false);
		give([...event.dataTransfer.files]);
	};
	return (
		<Paper
			ref={area}
			p="md"
			onDragOver={(event) => {
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={drop}
			style={{
				border: `2px dashed var(--mantine-color-${isOver ? "indigo-6" : "default-border"})`,
			}}
		>
			<Group gap="md" align="flex-end" justify="space-between">
				<Group gap="sm" flex="1 1 220px" mih={36}>
					<IconFileUpload size={24} aria-hidden />
					<Text size="sm">Drop files here, or choose them.</Text>
				</Group>
				<Group gap="sm" align="flex-end">
					<TextInput
						type="date"
						size="xs"
						label="Valid until (optional)"
						data-path="valid_until"
						value={validUntil}
						error={dateError}
						onChange={(event) => {
							setValidUntil(event.currentTarget.value);
							setDateError(undefined);
						}}
					/>
					<FileButton
						multiple
						resetRef={forget}
						inputProps={{ "aria-label": "Files" }}
						onChange={(files) => {
							give(files);
							forget.current?.();
						}}
					>
						{({ onClick }) => (
							<Button onClick={() => isDateFinished() && onClick()}>
								Choose files
							</Button>
						)}
					</FileButton>
				</Group>
			</Group>
		</Paper>
	);
}

/** Shows how far a file has been sent, or why it was refused. */
export function SendingFile({
	sending: { name, share, problem },
	onDismiss,
}: {
	sending: Sending;
	onDismiss: () => void;
}) {
	return (
		<div>
			<Group justify="space-between" gap="xs" wrap="nowrap">
				<Text size="sm" style={{ overflowWrap: "anywhere" }}>
					{name}
				</Text>
				{problem !== undefined && (
					<Button
						variant="subtle"
						color="gray"
						size="compact-xs"
						aria-label={`Dismiss ${name}`}
						onClick={onDismiss}
					>
						Dismiss
					</Button>
				)}
			</Group>
			{problem === undefined ? (
				<Progress
					value={share * 100}
					aria-label={`Sending ${name}`}
					animated={share === 1}
				/>
			) : (
				<Text size="sm" c="var(--mantine-color-error)" role="alert">
					{problem}
				</Text>
			)}
		</div>
	);
}
