import type { OutputOf } from "../../api.ts";
import { formatDay } from "../days.ts";
import { MAX_SCORE } from "../records/risk-scores.ts";
import { compareWithOneDay, knownOf, type Trend } from "./trend.ts";

type Point = OutputOf<"getTrends">["points"][number];

const FIGURES: (Omit<Trend, "points"> & { figure: keyof Point })[] = [
	{ figure: "pass_percent", label: "Pass rate", unit: "%", top: 100 },
	{
		figure: "residual_risk",
		label: "Mean residual risk",
		unit: "",
		outOf: MAX_SCORE,
	},
	{ figure: "overdue", label: "Overdue work", unit: "" },
];

/**
 * Returns the figures of which more than one day is known. `passPercent` is the pass rate of today,
 * which the page shows elsewhere too. Nobody counts the fleet twice for it.
 */
export function trendsOf(
	past: readonly Point[],
	passPercent: number | null,
): Trend[] {
	const points = past.map((point, at) =>
		at === past.length - 1 ? { ...point, pass_percent: passPercent } : point,
	);
	const shown = FIGURES.map(
		({ figure, ...trend }): Trend => ({
			...trend,
			points: points.map((point) => ({
				day: point.day,
				value: point[figure] as number | null,
			})),
		}),
	).filter((trend) => knownOf(trend).length > 1);
	return compareWithOneDay(shown);
}

export const valueInWords = ({ unit }: Trend, value: number) =>
	`${value.toLocaleString()}${unit}`;

/** Returns every known value of a plot in words, for readers who do not see it. */
export function trendInWords(trend: Trend): string {
	const values = knownOf(trend).map(
		({ day, value }) => `${formatDay(day)} ${valueInWords(trend, value)}`,
	);
	return `${trend.label}: ${values.join(", ")}`;
}

/** Returns a plot in a sentence, for paper: where it begins and ends, and its lowest and highest value. */
export function trendInBrief(trend: Trend): string {
	const known = knownOf(trend);
	const [first, last] = [known[0], known.at(-1)];
	if (!first || !last) return "";
	const values = known.map(({ value }) => value);
	const words = (value: number) => valueInWords(trend, value);
	return `From ${words(first.value)} on ${formatDay(first.day)} to ${words(last.value)} on ${formatDay(last.day)}. Lowest ${words(Math.min(...values))}, highest ${words(Math.max(...values))}.`;
}
