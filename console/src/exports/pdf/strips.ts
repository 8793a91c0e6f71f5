import {
	type Block,
	type Columns,
	isBlocks,
	type ListItem,
	type Text,
} from "./content.ts";
import { addElement, marked } from "./document.ts";
import {
	drawLine,
	FILL,
	heightOf,
	paintStrips,
	type Room,
	type Strip,
} from "./strip.ts";
import { tableStrips } from "./table-strips.ts";
import { textStrips } from "./text-strips.ts";

const HEADINGS: Record<number, { size: number; above: number; after: number }> =
	{
		1: { size: 20, above: 12, after: 8 },
		2: { size: 15, above: 12, after: 4 },
		3: { size: 12, above: 10, after: 3 },
		4: { size: 10, above: 8, after: 2 },
	};
const INDENT = { list: 18, quote: 12 };

/** Makes the strips of blocks, and the elements that assistive technology reads. */
export function stripsOf(blocks: readonly Block[], room: Room): Strip[] {
	return blocks.flatMap((block) => blockStrips(block, room));
}

function blockStrips(block: Block, room: Room): Strip[] {
	const { doc, parent, width, style } = room;
	switch (block.kind) {
		case "heading": {
			const level = Math.min(block.level, 6);
			const look = HEADINGS[Math.min(level, 4)] ?? {
				size: 10,
				above: 8,
				after: 2,
			};
			const strips = textStrips(
				block.text,
				addElement(doc, parent, `H${level}`),
				{
					...room,
					style: {
						...style,
						bold: true,
						size: look.size,
						leading: 1.2,
						...block.style,
					},
				},
			);
			for (const strip of strips) strip.staysWithNext = true;
			return spaced(strips, look.above, look.after);
		}
		case "text":
			return spaced(
				textStrips(
					block.text,
					addElement(doc, parent, "P"),
					{ ...room, style: { ...style, ...block.style } },
					block.align,
				),
				0,
				block.after ?? 0,
			);
		case "code":
			return codeStrips(block.text, room);
		case "list": {
			const list = addElement(doc, parent, "L");
			return spaced(
				block.items.flatMap((item) =>
					itemStrips(item, { ...room, parent: list }),
				),
				0,
				6,
			);
		}
		case "quote":
			return moved(
				stripsOf(block.content, {
					doc,
					parent: addElement(doc, parent, "BlockQuote"),
					width: width - INDENT.quote,
					style: { ...style, italics: true },
				}),
				INDENT.quote,
			);
		case "rule":
			return [
				{
					height: 14,
					above: 0,
					paint: (x, y) => drawLine(doc, x, y + 4, width),
				},
			];
		case "table":
			return tableStrips(block, room, cellStrips);
		case "columns":
			return [columnsStrip(block, room)];
		case "figure":
		case "ornament":
			return [drawingStrip(block, room)];
	}
}

function codeStrips(text: string, room: Room): Strip[] {
	const { doc, width, style } = room;
	const paragraph = addElement(doc, room.parent, "P");
	const code = addElement(doc, paragraph, "Code");
	const strips = textStrips(text.replaceAll("\t", "    "), code, {
		doc,
		width: width - 12,
		style: { ...style, size: 9 },
	}).map(
		(strip): Strip => ({
			...strip,
			paint: (x, y, isRepeated) => {
				marked(doc, undefined, () =>
					doc.rect(x, y, width, strip.height + 0.2).fill(FILL),
				);
				strip.paint(x + 6, y, isRepeated);
			},
		}),
	);
	return spaced(strips, 0, 6);
}

function itemStrips({ label, content }: ListItem, room: Room): Strip[] {
	const { doc, style, width } = room;
	const item = addElement(doc, room.parent, "LI");
	const sign = addElement(doc, item, "Lbl");
	const body = addElement(doc, item, "LBody");
	const inner = { ...room, parent: body, width: width - INDENT.list };
	const [first, ...others] = stripsOf(content, inner);
	const [labelStrip] = textStrips(label, sign, {
		doc,
		width: INDENT.list,
		style,
	});
	if (!labelStrip) return [];
	return [
		{
			...(first ?? labelStrip),
			paint: (x, y, isRepeated) => {
				labelStrip.paint(x, y, isRepeated);
				first?.paint(x + INDENT.list, y, isRepeated);
			},
		},
		...moved(others, INDENT.list),
	];
}

function columnsStrip(
	{ columns, gap, isList, isRuled }: Columns,
	room: Room,
): Strip {
	const { doc, parent } = room;
	const free =
		room.width -
		gap * (columns.length - 1) -
		columns.reduce((sum, { width = 0 }) => sum + width, 0);
	const share =
		free / columns.filter(({ width }) => width === undefined).length;
	const list = isList ? addElement(doc, parent, "L") : undefined;
	const cells = columns.map(({ content, width = share }) => ({
		width: width + gap,
		strips: stripsOf(content, {
			...room,
			width,
			parent: list
				? addElement(doc, addElement(doc, list, "LI"), "LBody")
				: addElement(doc, parent, "Div"),
		}),
	}));
	const height = Math.max(...cells.map(({ strips }) => heightOf(strips)));
	return {
		height: height + (isRuled ? 6 : 0),
		above: Math.max(...cells.map(({ strips }) => strips[0]?.above ?? 0)),
		paint: (x, y, isRepeated) => {
			let left = x;
			for (const { strips, width } of cells) {
				paintStrips(strips, left, y, isRepeated);
				left += width;
			}
			if (isRuled) drawLine(doc, x, y + height + 3, room.width);
		},
	};
}

function drawingStrip(
	block: Extract<Block, { kind: "figure" | "ornament" }>,
	{ doc, parent, width }: Room,
): Strip {
	const { kind, height, draw } = block;
	// An element with a place on the page is made when the place is known. This one holds its turn.
	const holder = kind === "figure" ? addElement(doc, parent, "Div") : undefined;
	return {
		height,
		above: 0,
		paint: (x, y, isRepeated) => {
			const element =
				holder && block.kind === "figure" && !isRepeated
					? addElement(doc, holder, "Figure", {
							alt: block.alt,
							bbox: [x, y, x + width, y + height],
						})
					: undefined;
			marked(doc, element, () => {
				doc.save().translate(x, y);
				draw(doc, width);
				doc.restore();
			});
		},
	};
}

/** Adds space above the first strip and below the last one. */
function spaced(strips: Strip[], above: number, after: number): Strip[] {
	const [first] = strips;
	if (first) first.above = Math.max(first.above, above);
	const last = strips.at(-1);
	if (last) last.height += after;
	return strips;
}

function moved(strips: readonly Strip[], by: number): Strip[] {
	return strips.map((strip) => ({
		...strip,
		paint: (x, y, isRepeated) => strip.paint(x + by, y, isRepeated),
	}));
}

/** Makes the strips of a cell, which is a text or has blocks in it. */
function cellStrips(
	content: Text | readonly Block[],
	room: Room,
	align?: "right",
): Strip[] {
	return isBlocks(content)
		? stripsOf(content, room)
		: textStrips(content, room.parent, room, align);
}
