import "@mantine/charts/styles.css";
import { BarChart } from "@mantine/charts";
import type { DayOfUse } from "./token-words.tsx";

const SHORT = new Intl.DateTimeFormat(undefined, {
	day: "numeric",
	month: "short",
	timeZone: "UTC",
});

const SERIES = [
	{ name: "Done", color: "indigo.6" },
	{ name: "Errors", color: "red.7" },
];

/** Calls of each day; whoever cannot see it has the sentence above and the table. */
export function CallsChart({
	days,
	height,
}: {
	days: DayOfUse[];
	height: number;
}) {
	const data = days.map(({ day, calls, errors }) => ({
		day: SHORT.format(new Date(`${day}T00:00:00Z`)),
		Done: calls - errors,
		Errors: errors,
	}));
	return (
		<BarChart
			aria-hidden
			h={height}
			data={data}
			dataKey="day"
			series={SERIES}
			type="stacked"
			withLegend
			tickLine="none"
			yAxisProps={{ allowDecimals: false, width: 36 }}
			xAxisProps={{ interval: 6 }}
			barChartProps={{ accessibilityLayer: false }}
		/>
	);
}
