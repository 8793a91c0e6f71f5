import { LegendOf } from "./legend.tsx";
import styles from "./postures.module.css";

/** The states that a part of the bar can stand for, in the order of the parts. */
export const PARTS = {
	pass: { label: "Pass", className: styles.pass },
	fail: { label: "Fail", className: styles.fail },
	unknown: { label: "Unknown", className: styles.unknown },
	not_applicable: { label: "Not applicable", className: styles.notApplicable },
	stale: { label: "Silent", className: styles.stale },
	not_reported: { label: "Not reported", className: styles.notReported },
} as const;

export type Part = keyof typeof PARTS;

/**
 * Draws the shares of a whole side by side. The bar is only a picture; the numbers are beside it as
 * text.
 */
export function PostureBar({
	counts,
	height = 10,
}: {
	counts: Record<Part, number>;
	height?: number;
}) {
	const shown = (Object.keys(PARTS) as Part[]).filter(
		(part) => counts[part] > 0,
	);
	// An empty frame would look like a bar that has not been loaded.
	if (shown.length === 0) return null;
	return (
		<div className={styles.bar} style={{ height }} aria-hidden>
			{shown.map((part) => (
				<div
					key={part}
					className={`${styles.segment} ${PARTS[part].className}`}
					style={{ flexGrow: counts[part] }}
				/>
			))}
		</div>
	);
}

export function Legend({
	parts = Object.keys(PARTS) as Part[],
	labels = {},
}: {
	/** The states that the bar shows. By default, it shows every state. */
	parts?: readonly Part[];
	/** Labels that replace the default ones where another word is clearer. */
	labels?: { [P in Part]?: string };
}) {
	return (
		<LegendOf
			entries={parts.map((part) => ({
				label: labels[part] ?? PARTS[part].label,
				className: PARTS[part].className,
			}))}
		/>
	);
}
