import {
	IconArrowDownRight,
	IconArrowUpRight,
	IconEqual,
} from "@tabler/icons-react";
import styles from "./board.module.css";
import type { Change } from "./board.ts";

const ARROWS = {
	up: IconArrowUpRight,
	down: IconArrowDownRight,
	same: IconEqual,
};

/** Shows a change as an arrow and words. Its color only repeats what the words say. */
export function ChangeMark({ change }: { change: Change | undefined }) {
	if (!change) return <span className={styles.change}>Not known before</span>;
	const Arrow = ARROWS[change.direction];
	return (
		<span className={styles.change} data-tone={change.tone}>
			<Arrow size={14} aria-hidden className={styles.arrow} />
			{change.text}
		</span>
	);
}
