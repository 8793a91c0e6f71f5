import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import {
	type Block,
	blocksOf,
	type Inline,
	inlinesOf,
	readDocument,
	readForeign,
} from "../../console/src/parts/markdown/tokens.ts";

const FOLDER = join(import.meta.dirname, "../../docs");

let documents: Map<string, Block[]>;
beforeAll(async () => {
	const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".md"));
	documents = new Map(
		await Promise.all(
			files.map(async (file) => {
				const text = await readFile(join(FOLDER, file), "utf8");
				return [file, readDocument(text)] as const;
			}),
		),
	);
});

/** Returns the parts of the texts of a block, also of those inside other parts. */
function partsOf(block: Block): Inline[] {
	switch (block.type) {
		case "code":
			return [];
		case "list":
			return block.items.flatMap(({ tokens }) =>
				blocksOf(tokens).flatMap(partsOf),
			);
		case "table":
			return [block.header, ...block.rows]
				.flat()
				.flatMap(({ tokens }) => flatten(inlinesOf(tokens)));
		default:
			return "tokens" in block ? flatten(inlinesOf(block.tokens ?? [])) : [];
	}
}

function flatten(parts: readonly Inline[]): Inline[] {
	return parts.flatMap((part) =>
		"tokens" in part ? [part, ...flatten(inlinesOf(part.tokens ?? []))] : part,
	);
}

/** What the console shows. A text with tokens consists of the parts in them. */
const SHOWN_BLOCKS = ["heading", "paragraph", "text", "code", "list", "table"];
const SHOWN_PARTS = ["text", "escape", "codespan", "strong", "em", "link"];

test("the console shows every sign of Markdown that the documents use", () => {
	const unseen: string[] = [];
	const visit = (file: string, blocks: readonly Block[]) => {
		for (const block of blocks) {
			if (!SHOWN_BLOCKS.includes(block.type))
				unseen.push(`${file}: ${block.raw}`);
			if (block.type === "list") {
				for (const { tokens } of block.items) visit(file, blocksOf(tokens));
			}
			for (const part of partsOf(block)) {
				const isShown = SHOWN_PARTS.includes(part.type);
				const isPlain = part.type === "text" && !("tokens" in part);
				if (!isShown || (isPlain && /\*\*|\]\(|`|&\w+;/.test(part.text)))
					unseen.push(`${file}: ${part.raw}`);
			}
		}
	};
	for (const [file, blocks] of documents) visit(file, blocks);
	expect(unseen).toEqual([]);
});

test("each link between documents leads to a document and a heading that exist", () => {
	const broken = [];
	for (const [file, blocks] of documents) {
		for (const part of blocks.flatMap(partsOf)) {
			if (part.type !== "link") continue;
			const [, name, hash] = /^([\w-]+\.md)?(?:#(.*))?$/.exec(part.href) ?? [];
			if (!name && !hash) continue;
			const target = documents.get(name ?? file);
			const isThere =
				target &&
				(!hash ||
					target.some((one) => one.type === "heading" && one.id === hash));
			if (!isThere) broken.push(`${file}: ${part.href}`);
		}
	}
	expect(broken).toEqual([]);
});

test("headings with the same text have different ids, as GitHub makes them", () => {
	const blocks = readDocument("# One\n\n## Linux\n\n## macOS\n\n## Linux\n");
	const ids = blocks.map((one) => one.type === "heading" && one.id);
	expect(ids).toEqual(["one", "linux", "macos", "linux-1"]);
});

test("a picture shows nothing, and neither does its paragraph", () => {
	const blocks = readDocument("# Title\n\n![Home](home.png)\n\nText.\n");
	expect(blocks.map(({ type }) => type)).toEqual(["heading", "paragraph"]);
});

test("a text that would keep the browser busy or nests too deeply is not read as Markdown", () => {
	expect(readForeign("# Title\n\nSome *text*.")).toHaveLength(2);
	for (const text of ["_a*".repeat(60_000), ">".repeat(20_000)]) {
		expect(readForeign(text), text.slice(0, 9)).toBeUndefined();
	}
});
