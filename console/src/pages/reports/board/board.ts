import type { Trend } from "../../../parts/plots/trend.ts";

/** A figure now and on the day that the summary compares with. Null: it is not known. */
export interface Comparison {
	label: string;
	now: number | null;
	before: number | null;
	unit: "%" | "";
	/** Says whether more or less is better, or neither. */
	good: "more" | "less" | "neither";
	/** Says in words what the figure counts, such as "27 of 30 controls". */
	detail?: string;
	/** The length of its bar if it is not a percentage: the greatest figure of its section. */
	top?: number;
	/** The color of its bar. */
	color?: string;
}

export interface BoardSection {
	title: string;
	rows: readonly Comparison[];
	/** True if each row has a bar. */
	hasBars: boolean;
	/** Explains words of the section. */
	note?: string;
}

/** Something that the board has to decide about. */
export interface Decision {
	kind: string;
	text: string;
	count: number;
	names: readonly string[];
}

/** Content of the board summary, for the screen, for paper and for files. */
export interface Board {
	today: string;
	/** The day that the summary compares with, or null if nothing before today is known. */
	comparedWith: string | null;
	/** The day that the reader chose. Records may not reach so far back. */
	wanted: string;
	key: readonly Comparison[];
	trends: readonly Trend[];
	sections: readonly BoardSection[];
	decisions: readonly Decision[];
}

export interface Change {
	difference: number;
	direction: "up" | "down" | "same";
	tone: "better" | "worse" | "neutral";
	/** The change in words, such as "Up 3.2 points, better". */
	text: string;
}

/** Returns how a figure changed, or undefined if one of the two is not known. */
export function changeOf({
	now,
	before,
	unit,
	good,
}: Comparison): Change | undefined {
	if (now === null || before === null) return undefined;
	// A difference of two figures with one decimal has one too.
	const difference = Math.round((now - before) * 10) / 10;
	if (difference === 0)
		return {
			difference,
			direction: "same",
			tone: "neutral",
			text: "No change",
		};
	const direction = difference > 0 ? "up" : "down";
	const tone =
		good === "neither"
			? "neutral"
			: (good === "more") === difference > 0
				? "better"
				: "worse";
	const size = Math.abs(difference);
	const points = unit === "%" ? (size === 1 ? " point" : " points") : "";
	const judged = tone === "neutral" ? "" : `, ${tone}`;
	return {
		difference,
		direction,
		tone,
		text: `${direction === "up" ? "Up" : "Down"} ${size.toLocaleString()}${points}${judged}`,
	};
}

/** Returns a figure in words. A dash stands for one that is not known. */
export const figureInWords = (value: number | null, unit: string) =>
	value === null ? "–" : `${value.toLocaleString()}${unit}`;

/** Names the first records of a decision, and says how many more there are. */
export function namesInWords({ names, count }: Decision): string {
	const named = names.join("; ");
	const more = count - names.length;
	return more > 0 ? `${named}; and ${more.toLocaleString()} more` : named;
}
