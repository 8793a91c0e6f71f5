import { Button, FileButton, List, Text } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { useRef } from "react";

/** Number of wrong lines that a dialog lists. */
const SHOWN = 20;

/** A button that lets the user choose a CSV file. */
export function ChooseCsv({
	isReading,
	onChoose,
}: {
	isReading: boolean;
	onChoose: (file: File) => void;
}) {
	// Clears the input. Otherwise, choosing the same file again after fixing it would not count as a
	// change.
	const forget = useRef<() => void>(null);
	return (
		<FileButton
			resetRef={forget}
			accept=".csv,text/csv"
			onChange={(file) => {
				if (file) onChoose(file);
				forget.current?.();
			}}
		>
			{(button) => (
				<Button
					{...button}
					variant="default"
					loading={isReading}
					leftSection={<IconFileUpload size={16} aria-hidden />}
				>
					Choose a file
				</Button>
			)}
		</FileButton>
	);
}

/** Lists the wrong lines of a file. Renders nothing if there are none. */
export function WrongLines({
	problems,
}: {
	/** The headings of the file are line 1. */
	problems: readonly { line: number; message: string }[];
}) {
	if (problems.length === 0) return null;
	// A line may have several problems.
	const lines = new Set(problems.map(({ line }) => line)).size;
	const more = problems.length - SHOWN;
	return (
		<>
			<Text mt="xs">
				{lines === 1
					? "1 line is wrong. Correct it and choose the file again."
					: `${lines} lines are wrong. Correct them and choose the file again.`}
			</Text>
			<List size="sm" mt="xs">
				{problems.slice(0, SHOWN).map(({ line, message }) => (
					<List.Item key={`${line} ${message}`}>
						Line {line}: {message}
					</List.Item>
				))}
			</List>
			{more > 0 && <Text size="sm">And {more} more.</Text>}
		</>
	);
}
