import { Badge, ThemeIcon } from "@mantine/core";
import {
	type Icon,
	IconAlertTriangleFilled,
	IconCircleCheckFilled,
	IconCircleDashed,
	IconCircleDotFilled,
	IconCircleXFilled,
} from "@tabler/icons-react";

export type Tone = "good" | "bad" | "warning" | "active" | "neutral";

const TONES: Record<Tone, { color: string; icon: Icon }> = {
	good: { color: "green.8", icon: IconCircleCheckFilled },
	bad: { color: "red.8", icon: IconCircleXFilled },
	warning: { color: "orange.8", icon: IconAlertTriangleFilled },
	active: { color: "indigo.6", icon: IconCircleDotFilled },
	neutral: { color: "gray.6", icon: IconCircleDashed },
};

/** Shows a state as a word, a shape and a color. Color is never the only sign. */
export function StatusBadge({ tone, label }: { tone: Tone; label: string }) {
	const { color, icon: Shape } = TONES[tone];
	return (
		<Badge
			variant="default"
			tt="none"
			fw={500}
			pl={4}
			// Without it, a narrow column of a table would cut off the word.
			miw="max-content"
			leftSection={
				<ThemeIcon variant="transparent" color={color} size={16} aria-hidden>
					<Shape size={14} />
				</ThemeIcon>
			}
		>
			{label}
		</Badge>
	);
}
