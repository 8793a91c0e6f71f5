import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
	type Block,
	type Inline,
	readBlocks,
	readInline,
} from "../../console/src/pages/help/markdown.ts";

const FOLDER = join(import.meta.dirname, "../../docs");

async function readDocuments(): Promise<Map<string, Block[]>> {
	const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".md"));
	return new Map(
		await Promise.all(
			files.map(async (file) => {
				const text = await readFile(join(FOLDER, file), "utf8");
				return [file, readBlocks(text.split("\n"))] as const;
			}),
		),
	);
}

function textsOf(block: Block): string[] {
	switch (block.type) {
		case "code":
			return [];
		case "list":
			return block.items.flat().flatMap(textsOf);
		case "table":
			return [block.head, ...block.rows].flat();
		default:
			return [block.text];
	}
}

function flatten(parts: readonly Inline[]): Inline[] {
	return parts.flatMap((part) =>
		"parts" in part ? [part, ...flatten(part.parts)] : [part],
	);
}

test("no document shows a sign of Markdown as text", async () => {
	const left = [];
	for (const [file, blocks] of await readDocuments()) {
		for (const text of blocks.flatMap(textsOf)) {
			for (const part of flatten(readInline(text))) {
				if (
					part.type === "text" &&
					/\*\*|\]\(|`|^#|^\||^[-*] /.test(part.text)
				) {
					left.push(`${file}: ${part.text}`);
				}
			}
		}
	}
	expect(left).toEqual([]);
});

test("each link between documents leads to a document and a heading that exist", async () => {
	const documents = await readDocuments();
	const broken = [];
	for (const [file, blocks] of documents) {
		for (const part of blocks
			.flatMap(textsOf)
			.flatMap((text) => flatten(readInline(text)))) {
			if (part.type !== "link") continue;
			const [, name, hash] = /^([\w-]+\.md)?(?:#(.*))?$/.exec(part.to) ?? [];
			if (!name && !hash) continue;
			const target = documents.get(name ?? file);
			const isThere =
				target &&
				(!hash ||
					target.some((one) => one.type === "heading" && one.id === hash));
			if (!isThere) broken.push(`${file}: ${part.to}`);
		}
	}
	expect(broken).toEqual([]);
});

test("tables have as many cells in each row as in the head", async () => {
	const odd = [];
	for (const [file, blocks] of await readDocuments()) {
		for (const block of blocks) {
			if (block.type !== "table") continue;
			for (const row of block.rows) {
				if (row.length !== block.head.length) odd.push(`${file}: ${row}`);
			}
		}
	}
	expect(odd).toEqual([]);
});

test("lists keep their numbers, their paragraphs and their code", () => {
	const blocks = readBlocks(
		["1. First", "   line", "", "       code", "2. Second", "", "- other"].map(
			String,
		),
	);
	expect(blocks).toEqual([
		{
			type: "list",
			isOrdered: true,
			items: [
				[
					{ type: "paragraph", text: "First line" },
					{ type: "code", text: "code" },
				],
				[{ type: "paragraph", text: "Second" }],
				[{ type: "paragraph", text: "other" }],
			],
		},
	]);
});
