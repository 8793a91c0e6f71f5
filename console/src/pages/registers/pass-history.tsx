import { Group, Text } from "@mantine/core";
import { DAY_MS } from "../../../../src/units.ts";
import type { OutputOf } from "../../api.ts";
import { percentInWords } from "../../parts/percent.ts";
import styles from "./check-results.module.css";

export type Day = OutputOf<"getCheckResults">["history"][number];

const DATE = new Intl.DateTimeFormat(undefined, {
	day: "numeric",
	month: "short",
	timeZone: "UTC",
});
const timeOf = ({ day }: Day) => Date.parse(`${day}T00:00:00Z`);
const inWords = (day: Day) => DATE.format(timeOf(day));
const shareOf = (day: Day) => percentInWords(day.pass_percent ?? 0);

/**
 * Draws which share of the devices passed a check on each day, between 0 and 100 %, and the share
 * that is wanted. A text says the same to screen readers.
 */
export function PassHistory({
	name,
	days,
	wanted,
}: {
	name: string;
	/** The days of one check, the oldest first. */
	days: readonly Day[];
	wanted?: number | undefined;
}) {
	const known = days.filter(({ pass_percent }) => pass_percent !== null);
	const [first, last] = [known[0], known.at(-1)];
	if (!first || !last || first === last) {
		return (
			<Text size="xs" c="dimmed">
				The history begins with the second day.
			</Text>
		);
	}
	const width = Math.max(1, (timeOf(last) - timeOf(first)) / DAY_MS);
	const points = known.map((day) => {
		const x = (timeOf(day) - timeOf(first)) / DAY_MS;
		return `${x},${100 - (day.pass_percent ?? 0)}`;
	});
	const lowest = known.reduce((least, day) =>
		(day.pass_percent ?? 0) < (least.pass_percent ?? 0) ? day : least,
	);
	const summary = `${name}: ${shareOf(first)} passed on ${inWords(first)}, ${shareOf(last)} on ${inWords(last)}; the least was ${shareOf(lowest)} on ${inWords(lowest)}`;
	return (
		<div>
			<svg
				className={styles.history}
				viewBox={`0 -3 ${width} 106`}
				preserveAspectRatio="none"
				role="img"
				aria-label={summary}
			>
				<title>{summary}</title>
				<polygon
					className={styles.area}
					points={`0,100 ${points.join(" ")} ${width},100`}
				/>
				{wanted !== undefined && (
					<line
						className={styles.wanted}
						x1="0"
						x2={width}
						y1={100 - wanted}
						y2={100 - wanted}
					/>
				)}
				<polyline className={styles.line} points={points.join(" ")} />
			</svg>
			<Group justify="space-between" gap="xs" aria-hidden>
				<Text size="xs" c="dimmed">
					{inWords(first)}: {shareOf(first)}
				</Text>
				{wanted !== undefined && (
					<Text size="xs" c="dimmed">
						dashed: {wanted}% wanted
					</Text>
				)}
				<Text size="xs" c="dimmed">
					{inWords(last)}: {shareOf(last)}
				</Text>
			</Group>
		</div>
	);
}
