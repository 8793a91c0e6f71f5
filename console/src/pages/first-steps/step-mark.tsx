import { Text, ThemeIcon } from "@mantine/core";
import {
	IconCheck,
	IconCircleDashed,
	IconPlayerSkipForward,
} from "@tabler/icons-react";
import type { Step } from "./use-first-steps.ts";

/** Shows whether a step is done, left out or still to do. */
export function StepMark({ isDone, isSkipped }: Step) {
	const label = isDone ? "Done" : isSkipped ? "Skipped" : "To do";
	return (
		<ThemeIcon
			size={22}
			radius="xl"
			variant={isDone ? "filled" : "transparent"}
			color={isDone ? "green.9" : "gray.6"}
			role="img"
			aria-label={label}
			mt={1}
		>
			{isDone ? (
				<IconCheck size={14} />
			) : isSkipped ? (
				<IconPlayerSkipForward size={16} />
			) : (
				<IconCircleDashed size={20} />
			)}
		</ThemeIcon>
	);
}

/** The word beside a skipped step. Screen readers get it from the mark. */
export function SkippedWord() {
	return (
		<Text span size="xs" c="dimmed" aria-hidden>
			Skipped
		</Text>
	);
}
