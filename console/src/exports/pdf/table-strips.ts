import {
	type Block,
	type Cell,
	isBlocks,
	type Table,
	type Text,
} from "./content.ts";
import { addElement, type Element, MARGIN, marked } from "./document.ts";
import { breakLines, runsOf } from "./lines.ts";
import {
	drawLine,
	FILL,
	heightOf,
	paintStrips,
	type Room,
	type Strip,
} from "./strip.ts";

const PADDING = { x: 4, y: 3 };
/** Narrowest column of a table in points that shares the rest of the width. */
const MIN_SHARE = 48;

type CellStrips = (
	content: Text | readonly Block[],
	room: Room,
	align?: "right",
) => Strip[];

/**
 * Makes a strip of each row of a table. A row that is higher than a page becomes several. Each page
 * repeats the head.
 */
export function tableStrips(
	table: Table,
	room: Room,
	cellStrips: CellStrips,
): Strip[] {
	const { doc } = room;
	const style = { ...room.style, ...table.style };
	const element = addElement(doc, room.parent, "Table");
	const widths = widthsOf(table, { ...room, style });
	const rowOf = (cells: readonly Cell[], row: Element, isHead: boolean) =>
		cells.map(({ content, align }, at) => {
			const scope = isHead
				? "Column"
				: table.hasRowHeads && at === 0
					? "Row"
					: undefined;
			return cellStrips(
				content,
				{
					doc,
					parent: scope
						? addElement(doc, row, "TH", { scope })
						: addElement(doc, row, "TD"),
					width: (widths[at] ?? 0) - 2 * PADDING.x,
					style: isHead ? { ...style, ...table.headStyle } : style,
				},
				align,
			);
		});
	const { head } = table;
	const headGroup = head && addElement(doc, element, "THead");
	const headStrip =
		headGroup &&
		rowStrip(
			rowOf(head, addElement(doc, headGroup, "TR"), true),
			widths,
			room,
			table.headFill ?? FILL,
		);
	if (headStrip) headStrip.staysWithNext = true;
	const most =
		doc.page.height -
		MARGIN.top -
		MARGIN.bottom -
		(headStrip?.height ?? 0) -
		2 * PADDING.y;
	const body = addElement(doc, element, "TBody");
	const rows = table.rows.flatMap((cells) =>
		slicesOf(rowOf(cells, addElement(doc, body, "TR"), false), most).map(
			(slice): Strip => ({
				...rowStrip(slice, widths, room),
				...(headStrip && { head: headStrip }),
			}),
		),
	);
	const strips = [...(headStrip ? [headStrip] : []), ...rows];
	const last = strips.at(-1);
	if (last) last.height += 8;
	return strips;
}

function rowStrip(
	cells: readonly Strip[][],
	widths: readonly number[],
	{ doc, width }: Room,
	fill?: string,
): Strip {
	const height = Math.max(...cells.map(heightOf)) + 2 * PADDING.y;
	return {
		height,
		above: 0,
		paint: (left, y, isRepeated) => {
			if (fill && fill !== "none")
				marked(doc, undefined, () =>
					doc.rect(left, y, width, height).fill(fill),
				);
			let x = left;
			for (const [at, strips] of cells.entries()) {
				paintStrips(strips, x + PADDING.x, y + PADDING.y, isRepeated);
				x += widths[at] ?? 0;
			}
			drawLine(doc, left, y + height, width);
		},
	};
}

/** Cuts a row into parts of at most this height. */
function slicesOf(cells: readonly Strip[][], most: number): Strip[][][] {
	const parts = cells.map((strips) => {
		const cut: Strip[][] = [[]];
		for (const strip of strips) {
			const last = cut.at(-1) ?? [];
			if (last.length > 0 && heightOf([...last, strip]) > most)
				cut.push([strip]);
			else last.push(strip);
		}
		return cut;
	});
	const count = Math.max(...parts.map(({ length }) => length));
	return Array.from({ length: count }, (_, at) =>
		parts.map((cut) => cut[at] ?? []),
	);
}

/** Returns the widths of the columns in points. */
function widthsOf({ widths, head, rows }: Table, room: Room): number[] {
	const { doc, style, width } = room;
	/** The width that a column needs if no line is broken. */
	const natural = (column: number) =>
		Math.max(
			...[...(head ? [head] : []), ...rows].map((cells) => {
				const content = cells[column]?.content ?? "";
				if (isBlocks(content)) return 0;
				const runs = runsOf(doc, content, { ...style, bold: cells === head });
				return Math.max(
					...breakLines(doc, runs, width).map((line) => line.width),
				);
			}),
		) +
		2 * PADDING.x +
		// A sum of widths may differ from the width of the whole by a rounding error.
		0.1;
	const fixed = widths.map((one, at) =>
		one === "auto" ? natural(at) : one === "*" ? undefined : one,
	);
	const used = fixed.reduce<number>((sum, one = 0) => sum + one, 0);
	const shares = fixed.filter((one) => one === undefined).length;
	const rest = width - used;
	if (shares > 0 && rest >= shares * MIN_SHARE)
		return fixed.map((one) => one ?? rest / shares);
	if (shares === 0 && rest >= 0) return fixed.map((one = 0) => one);
	// There is too little room, so that every column gives up a part of its width.
	const wanted = fixed.map((one) => one ?? MIN_SHARE);
	const sum = wanted.reduce((all, one) => all + one, 0);
	return wanted.map((one) => (one * width) / sum);
}
