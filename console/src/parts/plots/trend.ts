/** A figure over twelve months. A value is null for a day on which it was not known. */
export interface Trend {
	label: string;
	unit: "%" | "";
	/** The greatest possible value, if the reader has to know it to judge a value. */
	outOf?: number;
	/** The top of the scale. Without one, the greatest value is the top. */
	top?: number;
	/** The day with which its last value is compared. Without one, the first day that is known. */
	comparedWith?: string | undefined;
	points: readonly { day: string; value: number | null }[];
}

/** Returns the points whose values are known. */
export function knownOf({ points }: Trend) {
	return points.flatMap(({ day, value }) =>
		value === null ? [] : [{ day, value }],
	);
}

/**
 * Lets all figures of a view be compared with the same day, the first one on which all are known.
 * The service counts the devices of past months after its start, the last month first, so at first
 * the pass rate begins later than the figures of records. If there is no such day, each figure is
 * compared with its own first day.
 */
export function compareWithOneDay(trends: readonly Trend[]): Trend[] {
	const past = trends[0]?.points.slice(0, -1) ?? [];
	const isKnown = (at: number) =>
		trends.every(({ points }) => points[at]?.value !== null);
	const comparedWith = past.find((_, at) => isKnown(at))?.day;
	return trends.map((trend) => ({ ...trend, comparedWith }));
}

/** Size of a plot in its own units. */
export const WIDTH = 240;
export const HEIGHT = 56;
/** Space for the line at the top and bottom. */
const MARGIN = 3;

/** Returns the places of the known values in a plot of this size, in which y grows downwards. */
export function placesOf(
	trend: Trend,
	width: number,
	height: number,
): { x: number; y: number }[] {
	const values = knownOf(trend).map(({ value }) => value);
	const highest = trend.top ?? Math.max(1, ...values);
	const step = width / (trend.points.length - 1);
	return trend.points.flatMap(({ value }, index) => {
		if (value === null) return [];
		const above = (value / highest) * (height - 2 * MARGIN);
		return [{ x: index * step, y: height - MARGIN - above }];
	});
}

/** Returns the line of a plot and the area below it, as SVG points. */
export function shapeOf(trend: Trend): { line: string; area: string } {
	const places = placesOf(trend, WIDTH, HEIGHT);
	const line = places.map(({ x, y }) => `${x},${y}`).join(" ");
	const [first, last] = [places[0]?.x, places.at(-1)?.x];
	return { line, area: `${first},${HEIGHT} ${line} ${last},${HEIGHT}` };
}
