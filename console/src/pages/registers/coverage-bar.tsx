import styles from "./coverage.module.css";
import { type CoverageState, STATES } from "./coverage-states.ts";

/**
 * Draws the shares of the controls side by side. The bar is only a picture; the numbers are beside
 * it as text.
 */
export function CoverageBar({
	counts,
	height,
}: {
	counts: Record<CoverageState, number>;
	height: number;
}) {
	return (
		<div className={styles.bar} style={{ height }} aria-hidden>
			{(Object.keys(STATES) as CoverageState[])
				.filter((state) => counts[state] > 0)
				.map((state) => (
					<div
						key={state}
						className={`${styles.part} ${styles[state]}`}
						style={{ flexGrow: counts[state] }}
					/>
				))}
		</div>
	);
}
