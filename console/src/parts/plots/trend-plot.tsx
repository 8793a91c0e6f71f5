import { Group, Text } from "@mantine/core";
import { formatDay } from "../days.ts";
import { PlainText } from "../plain-text.tsx";
import { HEIGHT, knownOf, shapeOf, type Trend, WIDTH } from "./trend.ts";
import styles from "./trend-plot.module.css";
import { trendInWords, valueInWords } from "./trends.ts";

/** Shows a figure over twelve months: its last value, a line, and an earlier value. */
export function TrendPlot({ trend }: { trend: Trend }) {
	const { label, points, outOf, comparedWith } = trend;
	const known = knownOf(trend);
	const last = known.at(-1);
	const earlier = known.find(({ day }) => day === comparedWith) ?? known[0];
	const { line, area } = shapeOf(trend);
	const step = WIDTH / (points.length - 1);
	return (
		<div>
			<Group justify="space-between" align="baseline" gap="xs">
				<PlainText size="sm">{label}</PlainText>
				<Text fw={600} fz="lg">
					{last && valueInWords(trend, last.value)}
					{outOf && (
						<PlainText span size="xs" fw={400} c="dimmed">
							{` of ${outOf}`}
						</PlainText>
					)}
				</Text>
			</Group>
			<svg
				viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
				preserveAspectRatio="none"
				className={styles.plot}
				role="img"
				aria-label={trendInWords(trend)}
			>
				<polygon className={styles.area} points={area} />
				<polyline className={styles.line} points={line} />
				{points.map(({ day, value }, index) => (
					<rect
						key={day}
						x={(index - 0.5) * step}
						width={step}
						height={HEIGHT}
						fill="transparent"
					>
						<title>
							{`${formatDay(day)}: ${value === null ? "not known" : valueInWords(trend, value)}`}
						</title>
					</rect>
				))}
			</svg>
			<PlainText size="xs" c="dimmed">
				{earlier &&
					`${valueInWords(trend, earlier.value)} on ${formatDay(earlier.day)}`}
			</PlainText>
		</div>
	);
}
