import {
	type Block,
	type Cell,
	type Columns,
	type Table,
	type TextStyle,
	text,
} from "../../../exports/pdf/content.ts";
import { formatDay } from "../../../parts/days.ts";
import { knownOf, placesOf, type Trend } from "../../../parts/plots/trend.ts";
import { trendInBrief, valueInWords } from "../../../parts/plots/trends.ts";
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
/** Space between parts in points. */
const GAP = 19;
const SMALL: TextStyle = { size: 8, leading: 1.3 };
const TINY: TextStyle = { size: 7, leading: 1.3, color: QUIET };
const FAINT: TextStyle = { ...SMALL, color: QUIET };

/**
 * Returns the summary as the content of a PDF. It fits on one page as long as there are few
 * frameworks. Plots are vectors, and each has a sentence that says the same.
 */
export function boardToPdf(board: Board, title: string): Block[] {
	const { key, trends, sections, decisions } = board;
	return [
		{ kind: "heading", level: 1, text: title },
		text(
			`${formatDay(board.today)}, ${comparedText(board)}`,
			{ color: QUIET },
			8,
		),
		...tiles(key, board),
		heading("Needs a decision"),
		...(decisions.length > 0
			? decisions.map(
					(decision): Block => ({
						kind: "columns",
						gap: 6,
						isList: true,
						isRuled: true,
						columns: [
							{
								content: [
									text(
										[
											{
												text: `${decision.count.toLocaleString()}  `,
												size: 10,
											},
											{ text: decision.text },
										],
										{ ...SMALL, bold: true },
									),
									text(namesInWords(decision), FAINT),
								],
							},
						],
					}),
				)
			: [text("Nothing waits for a decision.", { color: QUIET })]),
		...(trends.length > 0
			? [
					heading("Twelve months"),
					{
						kind: "columns" as const,
						columns: trends.map((trend) => ({ content: plot(trend) })),
						gap: GAP,
					},
				]
			: []),
		...pairs(sections).map(
			(pair): Block => ({
				kind: "columns",
				gap: GAP,
				columns: twoOf(pair).map((section) => ({
					content: section
						? [
								heading(section.title),
								figures(section, board),
								...(section.hasBars && board.comparedWith
									? [text(markInWords(board.comparedWith), TINY)]
									: []),
								...(section.note ? [text(section.note, TINY)] : []),
							]
						: [],
				})),
			}),
		),
	];
}

const heading = (words: string): Block => ({
	kind: "heading",
	level: 2,
	text: words,
	style: { size: 12 },
});

function pairs<One>(all: readonly One[]): One[][] {
	return all.flatMap((_, at) => (at % 2 === 0 ? [all.slice(at, at + 2)] : []));
}

/** Keeps the place of a second one that is missing, so that the first one is not wider. */
const twoOf = <One>([first, second]: readonly One[]) => [first, second];

/** The most important figures, three in a row. */
function tiles(figures: readonly Comparison[], board: Board): Columns[] {
	return [figures.slice(0, 3), figures.slice(3, 6)]
		.filter(({ length }) => length > 0)
		.map((row) => ({
			kind: "columns",
			gap: 6,
			isList: true,
			isRuled: true,
			columns: row.map((figure) => ({ content: tile(figure, board) })),
		}));
}

function tile(figure: Comparison, { comparedWith }: Board): Block[] {
	const { label, now, before, unit, detail } = figure;
	return [
		text(label, SMALL),
		text(figureInWords(now, unit), { size: 17, bold: true, leading: 1.3 }),
		...(detail ? [text(detail, FAINT)] : []),
		...(comparedWith ? [change(changeOf(figure))] : []),
		...(comparedWith && before !== null
			? [
					text(
						`${figureInWords(before, unit)} on ${formatDay(comparedWith)}`,
						FAINT,
					),
				]
			: []),
	];
}

/** A change as a drawn arrow and words, because the font has no arrows. */
function change(of: Change | undefined): Block {
	if (!of) return text("Not known before", FAINT);
	const color = TONES[of.tone];
	const words = text(of.text, { ...SMALL, color });
	if (of.direction === "same") return words;
	const [tip, base] = of.direction === "up" ? [2.5, 7.5] : [7.5, 2.5];
	return {
		kind: "columns",
		gap: 1,
		columns: [
			{
				width: 8,
				content: [
					{
						kind: "ornament",
						height: 10,
						draw: (doc) =>
							doc.polygon([0, base], [3, tip], [6, base]).fill(color),
					},
				],
			},
			{ content: [words] },
		],
	};
}

const PLOT_HEIGHT = 36;

function plot(trend: Trend): Block[] {
	const last = knownOf(trend).at(-1);
	const words = trendInBrief(trend);
	return [
		text(
			[
				{ text: `${trend.label}  ` },
				{ text: last ? valueInWords(trend, last.value) : "", bold: true },
				...(trend.outOf ? [{ text: ` of ${trend.outOf}`, color: QUIET }] : []),
			],
			SMALL,
		),
		{
			kind: "figure",
			alt: `Plot of ${trend.label} over twelve months. ${words}`,
			height: PLOT_HEIGHT + 4,
			draw: (doc, width) => {
				const points = placesOf(trend, width, PLOT_HEIGHT).map(
					({ x, y }): [number, number] => [x, y + 2],
				);
				const [first, end] = [points[0], points.at(-1)];
				if (!first || !end) return;
				const bottom = PLOT_HEIGHT + 2;
				doc.polygon([first[0], bottom], ...points, [end[0], bottom]).fill(FILL);
				doc.moveTo(...first);
				for (const point of points) doc.lineTo(...point);
				doc.lineWidth(1.5).stroke(LINE);
			},
		},
		text(words, TINY),
	];
}

function figures(section: BoardSection, { comparedWith }: Board): Table {
	const right = (content: string): Cell => ({ content, align: "right" });
	return {
		kind: "table",
		widths: comparedWith ? ["*", 36, 52, 76] : ["*", 36],
		head: [
			{ content: "Figure" },
			right("Now"),
			...(comparedWith
				? [right(formatDay(comparedWith)), { content: "Change" }]
				: []),
		],
		rows: section.rows.map((row) => [
			{
				content: [
					text(row.label),
					...(row.detail ? [text(row.detail, TINY)] : []),
					...(section.hasBars ? [bar(row)] : []),
				],
			},
			right(figureInWords(row.now, row.unit)),
			...(comparedWith
				? [
						right(figureInWords(row.before, row.unit)),
						{ content: [change(changeOf(row))] },
					]
				: []),
		]),
		hasRowHeads: true,
		style: SMALL,
		headStyle: TINY,
		headFill: "none",
	};
}

const BAR_WIDTH = 70;

/** The figure as a bar, and the earlier one as a mark on it. The row has both in words. */
function bar({ now, before, top = 100, color }: Comparison): Block {
	const at = (value: number) => (value / top) * BAR_WIDTH;
	return {
		kind: "ornament",
		height: 8,
		draw: (doc) => {
			doc.rect(0, 2, BAR_WIDTH, 4).fill("#e9ecef");
			doc.rect(0, 2, at(now ?? 0), 4).fill(color ?? "#37b24d");
			if (before !== null)
				doc
					.moveTo(at(before), 1)
					.lineTo(at(before), 7)
					.lineWidth(1)
					.stroke("#000000");
		},
	};
}
