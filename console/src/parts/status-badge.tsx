import {
	type Icon,
	IconAlertTriangleFilled,
	IconCircleCheckFilled,
	IconCircleDashed,
	IconCircleDotFilled,
	IconCircleXFilled,
} from "@tabler/icons-react";
import classes from "./plain-badge.module.css";
import { PlainBadge } from "./plain-badge.tsx";

export type Tone = "good" | "bad" | "warning" | "active" | "neutral";

const TONES: Record<Tone, { color: string; icon: Icon }> = {
	good: { color: "var(--mantine-color-green-6)", icon: IconCircleCheckFilled },
	bad: { color: "var(--mantine-color-red-6)", icon: IconCircleXFilled },
	warning: {
		color: "var(--mantine-color-orange-6)",
		icon: IconAlertTriangleFilled,
	},
	active: { color: "var(--mantine-color-indigo-6)", icon: IconCircleDotFilled },
	neutral: { color: "var(--mantine-color-gray-6)", icon: IconCircleDashed },
};

/** Shows a state as a word, a shape and a color. Color is never the only sign. */
export function StatusBadge({ tone, label }: { tone: Tone; label: string }) {
	const { color, icon: Shape } = TONES[tone];
	return (
		<PlainBadge
			label={label}
			paddingLeft={4}
			left={
				<span className={classes.icon} style={{ color }} aria-hidden>
					<Shape size={14} />
				</span>
			}
		/>
	);
}
