import { Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { formatDay } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { Section } from "./home-section.tsx";
import styles from "./trends.module.css";

type Point = OutputOf<"getTrends">["points"][number];
type Figure = "pass_percent" | "residual_risk" | "overdue";

/** The plots, each with the top of its scale. Without one, the greatest value is the top. */
const PLOTS: {
	figure: Figure;
	label: string;
	unit: string;
	top?: number;
}[] = [
	{ figure: "pass_percent", label: "Pass rate", unit: "%", top: 100 },
	{ figure: "residual_risk", label: "Mean residual risk", unit: "" },
	{ figure: "overdue", label: "Overdue work", unit: "" },
];

/** Shows how the figures changed over twelve months. Nothing, as long as only one day is known. */
export function Trends() {
	const { organizationId } = useOrganization();
	const { data } = useQuery({
		...operationQuery("getTrends", { organization_id: organizationId }),
		refetchInterval: 5 * 60_000,
	});
	const plots = PLOTS.flatMap((plot) => {
		const known = (data?.points ?? []).filter(
			(point) => point[plot.figure] !== null,
		);
		return known.length > 1 ? [{ ...plot, known }] : [];
	});
	if (!data || plots.length === 0) return null;
	return (
		<Section title="Twelve months">
			<SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xl">
				{plots.map((plot) => (
					<Plot key={plot.figure} points={data.points} {...plot} />
				))}
			</SimpleGrid>
		</Section>
	);
}

const WIDTH = 240;
const HEIGHT = 56;
/** Space for the line at the top and bottom. */
const MARGIN = 3;

function Plot({
	figure,
	label,
	unit,
	top,
	points,
	known,
}: (typeof PLOTS)[number] & { points: Point[]; known: Point[] }) {
	const figureOf = (point: Point | undefined) => point?.[figure] ?? 0;
	const inWords = (point: Point | undefined) =>
		`${figureOf(point).toLocaleString()}${unit}`;
	const highest = top ?? Math.max(1, ...known.map(figureOf));
	const step = WIDTH / (points.length - 1);
	const places = points.flatMap((point, index) =>
		point[figure] === null
			? []
			: [
					{
						x: index * step,
						y:
							HEIGHT -
							MARGIN -
							(figureOf(point) / highest) * (HEIGHT - 2 * MARGIN),
					},
				],
	);
	const line = places.map(({ x, y }) => `${x},${y}`).join(" ");
	const [first, last] = [known[0], known.at(-1)];
	return (
		<div>
			<Group justify="space-between" align="baseline" gap="xs">
				<Text size="sm">{label}</Text>
				<Text fw={600} fz="lg">
					{inWords(last)}
				</Text>
			</Group>
			<svg
				viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
				preserveAspectRatio="none"
				className={styles.plot}
				role="img"
				aria-label={`${label}: ${known.map((point) => `${formatDay(point.day)} ${inWords(point)}`).join(", ")}`}
			>
				<polygon
					className={styles.area}
					points={`${places[0]?.x},${HEIGHT} ${line} ${places.at(-1)?.x},${HEIGHT}`}
				/>
				<polyline className={styles.line} points={line} />
				{points.map((point, index) => (
					<rect
						key={point.day}
						x={(index - 0.5) * step}
						width={step}
						height={HEIGHT}
						fill="transparent"
					>
						<title>
							{point[figure] === null
								? `${formatDay(point.day)}: not known`
								: `${formatDay(point.day)}: ${inWords(point)}`}
						</title>
					</rect>
				))}
			</svg>
			<Text size="xs" c="dimmed">
				{first && `${inWords(first)} on ${formatDay(first.day)}`}
			</Text>
		</div>
	);
}
