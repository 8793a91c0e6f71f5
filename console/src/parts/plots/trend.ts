/** A figure over twelve months. A value is null for a day on which it was not known. */
export interface Trend {
	label: string;
	unit: "%" | "";
	/** The greatest possible value, if the reader has to know it to judge a value. */
	outOf?: number;
	/** The top of the scale. Without one, the greatest value is the top. */
	top?: number;
	points: readonly { day: string; value: number | null }[];
}

/** Returns the points whose values are known. */
export function knownOf({ points }: Trend) {
	return points.flatMap(({ day, value }) =>
		value === null ? [] : [{ day, value }],
	);
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
