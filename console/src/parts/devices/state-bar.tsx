import { CHECK_STATES, type CheckState } from "./device-words.tsx";
import { LegendOf } from "./legend.tsx";
import styles from "./postures.module.css";

/**
 * The states that a required check can have, from best to worst, each with the class that sets its
 * color. The bar and the words beside it show them in this order.
 */
export const SHOWN_STATES = {
	PASSING: styles.pass,
	EXCEPTED: styles.excepted,
	IN_GRACE: styles.inGrace,
	FAILING: styles.fail,
	UNKNOWN: styles.unknown,
	STALE: styles.stale,
	NOT_REPORTED: styles.notReported,
} as const satisfies Partial<Record<CheckState, string | undefined>>;

export type ShownState = keyof typeof SHOWN_STATES;

/**
 * Draws the states of the devices for one check side by side. The bar is only a picture; the
 * numbers are beside it as text.
 */
export function StateBar({
	states,
	height = 10,
}: {
	states: Record<ShownState, number>;
	height?: number;
}) {
	const shown = (Object.keys(SHOWN_STATES) as ShownState[]).filter(
		(state) => states[state] > 0,
	);
	// An empty frame would look like a bar that has not been loaded.
	if (shown.length === 0) return null;
	return (
		<div className={styles.bar} style={{ height }} aria-hidden>
			{shown.map((state) => (
				<div
					key={state}
					className={`${styles.segment} ${SHOWN_STATES[state]}`}
					style={{ flexGrow: states[state] }}
				/>
			))}
		</div>
	);
}

/** Says what the parts of the bars mean. It names the states that some bar has. */
export function StateLegend({ states }: { states: readonly ShownState[] }) {
	return (
		<LegendOf
			entries={(Object.keys(SHOWN_STATES) as ShownState[])
				.filter((state) => states.includes(state))
				.map((state) => ({
					label: CHECK_STATES[state],
					className: SHOWN_STATES[state],
				}))}
		/>
	);
}
