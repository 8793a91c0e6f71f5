import { Fragment, type Node } from "@tiptap/pm/model";
import {
	defaultMarkdownSerializer,
	MarkdownSerializer,
	type MarkdownSerializerState,
} from "prosemirror-markdown";
import { withReadableEmphasis } from "./emphasis.ts";
import { inOneLine } from "./from-markdown.ts";

/**
 * Writes a text of the editor as Markdown. `sources` has the Markdown of blocks that nobody
 * changed. They keep it, so that a comparison of versions shows what a person changed, and no more.
 */
export function markdownFrom(
	doc: Node,
	sources: ReadonlyMap<Node, string> = new Map(),
): string {
	const keeping = Object.entries(NODES).map(
		([name, write]): [string, Write] => [
			name,
			(state, node, parent, index) => {
				const source = parent === doc ? sources.get(node) : undefined;
				if (source === undefined) return write(state, node, parent, index);
				state.text(source, false);
				state.closeBlock(node);
			},
		],
	);
	return serialize(doc, Object.fromEntries(keeping));
}

function serialize(content: Node, write: Record<string, Write>): string {
	return new MarkdownSerializer(write, MARKS, {
		hardBreakNodeName: "hardBreak",
		// HTML, names of characters, and addresses that are no link are shown as they were typed.
		escapeExtraCharacters:
			/<(?=[a-z/!?])|&(?=#?\w+;)|(?<=https?|ftp):(?=\/\/)|(?<=www)\.|(?<=\w)@(?=\w)/gi,
	}).serialize(content, { tightLists: true });
}

type Write = (typeof defaultMarkdownSerializer.nodes)[string];
type Mark = (typeof defaultMarkdownSerializer.marks)[string];
const nodes = defaultMarkdownSerializer.nodes as Record<
	"blockquote" | "horizontal_rule" | "hard_break" | "list_item",
	Write
>;
const marks = defaultMarkdownSerializer.marks as Record<
	"strong" | "em" | "code",
	Mark
>;

const NODES: Record<string, Write> = {
	paragraph(state, node) {
		// Markdown has no empty paragraphs.
		if (node.childCount === 0) return;
		state.renderInline(withReadableEmphasis(node));
		state.closeBlock(node);
	},
	blockquote: nodes.blockquote,
	horizontalRule: nodes.horizontal_rule,
	hardBreak: nodes.hard_break,
	heading(state, node) {
		state.write(`${"#".repeat(node.attrs.level)} `);
		state.renderInline(withReadableEmphasis(withoutBreaks(node)), false);
		state.closeBlock(node);
	},
	codeBlock: writeCode,
	bulletList(state, node, parent, index) {
		const sign = isOtherList(parent, index) ? "*" : "-";
		state.renderList(node, "  ", () => `${sign} `);
	},
	taskList(state, node, parent, index) {
		const sign = isOtherList(parent, index) ? "*" : "-";
		state.renderList(
			node,
			"  ",
			(item) => `${sign} [${node.child(item).attrs.checked ? "x" : " "}] `,
		);
	},
	orderedList(state, node, parent, index) {
		const sign = isOtherList(parent, index) ? ")" : ".";
		const first: number = node.attrs.start;
		const width = String(first + node.childCount - 1).length + 2;
		state.renderList(node, " ".repeat(width), (item) =>
			`${first + item}${sign}`.padEnd(width),
		);
	},
	listItem: nodes.list_item,
	taskItem: nodes.list_item,
	table: writeTable,
	text(state, node, parent, index) {
		state.text(
			isBareLink(parent, index)
				? (node.text ?? "")
				: escaped(state, node.text ?? "", parent, index),
			false,
		);
	},
};

const MARKS: Record<string, Mark> = {
	bold: marks.strong,
	italic: marks.em,
	strike: {
		open: "~~",
		close: "~~",
		mixable: true,
		expelEnclosingWhitespace: true,
	},
	link: {
		open: (_, __, parent, index) => (isBareLink(parent, index) ? "<" : "["),
		close: (_, { attrs }, parent, index) =>
			isBareLink(parent, index - 1) ? ">" : `](${addressOf(attrs)})`,
		mixable: true,
	},
	code: marks.code,
};

/** Lists that touch have signs in turn, or Markdown would take them for one list. */
function isOtherList(parent: Node, index: number): boolean {
	const before = index === 0 ? undefined : parent.child(index - 1);
	return (
		before?.type.name.endsWith("List") === true &&
		!isOtherList(parent, index - 1)
	);
}

/** A block of code is framed by more ticks than stand in it, or waves if its language has a tick. */
function writeCode(state: MarkdownSerializerState, node: Node) {
	const language: string = node.attrs.language ?? "";
	const sign = language.includes("`") ? "~" : "`";
	const signs = node.textContent.match(/`+|~+/g) ?? [];
	const frame = sign.repeat(
		Math.max(2, ...signs.map(({ length }) => length)) + 1,
	);
	state.write(`${frame}${language}\n`);
	if (node.textContent !== "") state.text(`${node.textContent}\n`, false);
	state.write(frame);
	state.closeBlock(node);
}

const LINES = {
	left: ":---",
	center: ":---:",
	right: "---:",
};

function writeTable(state: MarkdownSerializerState, node: Node) {
	const [head, ...rows] = node.children.map((row) =>
		row.children.map((cell) => ({
			text: serialize(
				cell.copy(Fragment.from(cell.children.map(withoutBreaks))),
				NODES,
			).replaceAll(/\\.|\|/gs, (sign) => (sign === "|" ? "\\|" : sign)),
			line: LINES[cell.attrs.align as keyof typeof LINES] ?? "---",
		})),
	);
	if (!head) return;
	const lines = [
		head.map(({ text }) => text),
		head.map(({ line }) => line),
		...rows.map((cells) => cells.map(({ text }) => text)),
	];
	state.text(
		lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n"),
		false,
	);
	state.closeBlock(node);
}

/** Returns the paragraph or heading with spaces in place of its line breaks. */
function withoutBreaks(node: Node): Node {
	const space = node.type.schema.text(" ");
	return node.copy(
		Fragment.from(
			node.children.map((part) =>
				part.type.name === "hardBreak" ? space : part,
			),
		),
	);
}

function escaped(
	state: MarkdownSerializerState,
	text: string,
	parent: Node,
	index: number,
): string {
	const isFirst =
		index === 0 || parent.child(index - 1).type.name === "hardBreak";
	const isLast = index === parent.childCount - 1;
	let line = state
		.esc(isFirst ? text.trimStart() : text)
		.replace(isLast ? BRACKETS_AT_END : BRACKETS, "[$1]");
	if (isFirst) line = line.replace(STARTS, "\\$&").replace(NUMBER, "$1\\$2");
	return isLast && parent.type.name === "heading"
		? line.replace(/(?<!\\)#$/, "\\#")
		: line;
}

/** Words or a number in brackets, such as [Company], are no link if no address follows them. */
const BRACKETS = /\\\[([^[\]\\]{2,}|\d)\\\](?=[^[(:])/g;
const BRACKETS_AT_END = /\\\[([^[\]\\]{2,}|\d)\\\](?![[(:])/g;

/** What begins a heading, list, quotation, table or line below a heading if a line begins with it. */
const STARTS = /^(?:#{1,6}(?=\s|$)|[-+](?=[\s-]|$)|>|\||:(?=-)|=+(?=\s*$))/;
const NUMBER = /^(\d{1,9})([.)])(?=\s|$)/;

/** Whether a part of a text is a link that shows its address, and is alone in the link. */
function isBareLink(parent: Node, index: number): boolean {
	const node = parent.child(index);
	const link = node.marks.find(({ type }) => type.name === "link");
	const { href, title } = link?.attrs ?? {};
	return (
		link !== undefined &&
		!title &&
		node.marks.length === 1 &&
		(node.text === href || `mailto:${node.text}` === href) &&
		/^(?:https?:\/\/|mailto:)[^\s<>]+$/.test(href) &&
		[index - 1, index + 1].every(
			(near) => !parent.maybeChild(near)?.marks.some((one) => one.eq(link)),
		)
	);
}

function addressOf({ href, title }: Node["attrs"]): string {
	// A bare star could end an emphasis around the link.
	const address = `<${String(href).replace(/[<>\\*]/g, "\\$&")}>`;
	const words = title
		? ` "${inOneLine(String(title)).replace(/["\\]/g, "\\$&")}"`
		: "";
	return `${/[\s<>()\\]/.test(href) ? address : href}${words}`;
}
