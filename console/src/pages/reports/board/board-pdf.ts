import type {
	Column,
	Content,
	ContentTable,
	TableCell,
} from "pdfmake/interfaces";
import { knownOf, placesOf, type Trend } from "../../../parts/plots/trend.ts";
import { trendInBrief, valueInWords } from "../../../parts/plots/trends.ts";
import { formatDay } from "../../../parts/time.tsx";
import {
	type Board,
	type BoardSection,
	type Change,
	type Comparison,
	changeOf,
	figureInWords,
	namesInWords,
} from "./board.ts";
import { comparedText, markInWords } from "./compared-text.ts";

const [QUIET, LINE, FILL] = ["#495057", "#3b5bdb", "#dbe4ff"];
const TONES = { better: "#2b8a3e", worse: "#c92a2a", neutral: QUIET };
/** Widths in points: of a page without its margins, of the space between parts, of two columns. */
const [PAGE, GAP] = [499, 19];
const COLUMN = (PAGE - GAP) / 2;

/**
 * Returns the summary as the content of a PDF. It fits on one page as long as there are few
 * frameworks. Plots are vectors, and each has a sentence that says the same.
 */
export function boardToPdf(board: Board, title: string): Content[] {
	const { key, trends, sections, decisions } = board;
	return [
		{ text: title, style: "h1", margin: [0, 0, 0, 2] },
		{
			text: `${formatDay(board.today)}, ${comparedText(board)}`,
			color: QUIET,
			margin: [0, 0, 0, 8],
		},
		tiles(key, board),
		heading("Needs a decision"),
		decisions.length > 0
			? table(
					["auto", "*"],
					decisions.map((decision) => [
						{ text: decision.count.toLocaleString(), bold: true, fontSize: 10 },
						{
							stack: [
								{ text: decision.text, bold: true },
								{ text: namesInWords(decision), color: QUIET },
							],
						},
					]),
				)
			: { text: "Nothing waits for a decision.", color: QUIET },
		...(trends.length > 0
			? [
					heading("Twelve months"),
					{
						columns: trends.map(plot),
						columnGap: GAP,
					},
				]
			: []),
		...pairs(sections).map((pair) => ({
			columns: pair.map((section) => ({
				width: COLUMN,
				stack: [
					heading(section.title),
					figures(section, board),
					...(section.hasBars && board.comparedWith
						? [
								{
									text: markInWords(board.comparedWith),
									color: QUIET,
									fontSize: 7,
								},
							]
						: []),
				],
			})),
			columnGap: GAP,
		})),
	];
}

const heading = (text: string): Content => ({
	text,
	style: "h3",
	margin: [0, 10, 0, 3],
	headlineLevel: 2,
});

function pairs<One>(all: readonly One[]): One[][] {
	return all.flatMap((_, at) => (at % 2 === 0 ? [all.slice(at, at + 2)] : []));
}

const table = (
	widths: ContentTable["table"]["widths"],
	body: TableCell[][],
	headerRows = 0,
): Content => ({
	table: { widths: widths ?? [], body, headerRows },
	layout: {
		hLineWidth: () => 0.5,
		vLineWidth: () => 0,
		hLineColor: () => "#ced4da",
		paddingTop: () => 2,
		paddingBottom: () => 2,
		paddingLeft: () => 3,
		paddingRight: () => 3,
	},
	fontSize: 8,
	lineHeight: 1.1,
});

/** The most important figures, three in a row. */
function tiles(figures: readonly Comparison[], board: Board): Content {
	const cells = figures.map(
		(figure): TableCell => ({
			stack: [
				{ text: figure.label },
				{
					text: figureInWords(figure.now, figure.unit),
					fontSize: 17,
					bold: true,
				},
				...(figure.detail ? [{ text: figure.detail, color: QUIET }] : []),
				...(board.comparedWith
					? [
							change(changeOf(figure)),
							...(figure.before === null
								? []
								: [
										{
											text: `${figureInWords(figure.before, figure.unit)} on ${formatDay(board.comparedWith)}`,
											color: QUIET,
										},
									]),
						]
					: []),
			],
		}),
	);
	const rows = [cells.slice(0, 3), cells.slice(3, 6)];
	return table(["*", "*", "*"], rows);
}

/** A change as a drawn arrow and words, because the font has no arrows. */
function change(of: Change | undefined): Content {
	if (!of) return { text: "Not known before", color: QUIET };
	const color = TONES[of.tone];
	const words = { text: of.text, color, width: "*" };
	if (of.direction === "same") return words;
	const [tip, base] = of.direction === "up" ? [0, 5] : [5, 0];
	const arrow = {
		type: "polyline" as const,
		closePath: true,
		color,
		lineWidth: 0,
		points: [
			{ x: 0, y: base },
			{ x: 3, y: tip },
			{ x: 6, y: base },
		],
	};
	return {
		columns: [{ canvas: [arrow], width: 8, margin: [0, 2, 0, 0] }, words],
		// Without it, the gap would be that of the columns around the table.
		columnGap: 1,
	};
}

const PLOT_HEIGHT = 36;

function plot(trend: Trend): Column {
	const width = (PAGE - 2 * GAP) / 3;
	// The library moves the points in place, so each shape has its own ones.
	const line = placesOf(trend, width, PLOT_HEIGHT);
	const area = placesOf(trend, width, PLOT_HEIGHT);
	const last = knownOf(trend).at(-1);
	const bottom = (x = 0) => ({ x, y: PLOT_HEIGHT });
	return {
		stack: [
			{
				columns: [
					{ text: trend.label, width: "*" },
					{
						text: last ? valueInWords(trend, last.value) : "",
						width: "auto",
						bold: true,
					},
				],
			},
			{
				canvas: [
					{
						type: "polyline",
						closePath: true,
						color: FILL,
						lineWidth: 0,
						points: [bottom(area[0]?.x), ...area, bottom(area.at(-1)?.x)],
					},
					{ type: "polyline", lineColor: LINE, lineWidth: 1.5, points: line },
				],
				margin: [0, 2, 0, 2],
			},
			{ text: trendInBrief(trend), color: QUIET, fontSize: 7 },
		],
		width,
		fontSize: 8,
	};
}

function figures(section: BoardSection, { comparedWith }: Board): Content {
	const right = (text: string) => ({ text, alignment: "right" as const });
	const head = (text: string) => ({ text, color: QUIET, fontSize: 7 });
	const rows = section.rows.map((row): TableCell[] => [
		{
			stack: [
				{ text: row.label },
				...(row.detail
					? [{ text: row.detail, color: QUIET, fontSize: 7 }]
					: []),
				...(section.hasBars ? [bar(row)] : []),
			],
		},
		right(figureInWords(row.now, row.unit)),
		...(comparedWith
			? [right(figureInWords(row.before, row.unit)), change(changeOf(row))]
			: []),
	]);
	return table(
		comparedWith ? ["*", 32, 44, 68] : ["*", 32],
		[
			[
				head("Figure"),
				{ ...head("Now"), alignment: "right" },
				...(comparedWith
					? [
							{ ...head(formatDay(comparedWith)), alignment: "right" as const },
							head("Change"),
						]
					: []),
			],
			...rows,
		],
		1,
	);
}

const BAR_WIDTH = 70;

/** The figure as a bar, and the earlier one as a mark on it. The row has both in words. */
function bar({ now, before, top = 100, color }: Comparison): Content {
	const at = (value: number) => (value / top) * BAR_WIDTH;
	const rect = (w: number, fill: string) => ({
		type: "rect" as const,
		x: 0,
		y: 0,
		w,
		h: 4,
		color: fill,
	});
	return {
		canvas: [
			rect(BAR_WIDTH, "#e9ecef"),
			rect(at(now ?? 0), color ?? "#37b24d"),
			...(before === null
				? []
				: [
						{
							type: "line" as const,
							x1: at(before),
							x2: at(before),
							y1: -1,
							y2: 5,
							lineWidth: 1,
						},
					]),
		],
		margin: [0, 2, 0, 1],
	};
}
