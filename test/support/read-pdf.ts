import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";

/** An element of the structure of a page, as assistive technology reads it. */
export interface Node {
	tag: string;
	alt?: string;
	children: Node[];
	/** Words and children in their order. */
	parts: (string | Node)[];
}

interface Tree {
	role?: string;
	alt?: string;
	children?: Tree[];
	type?: string;
	id?: string;
}

/**
 * Reads a PDF: what it says about itself, the structure of its pages, the text that they show, and
 * how far to the right the text goes, in points.
 */
export async function readPdf(file: Uint8Array) {
	const data = new Uint8Array(file);
	const pdf = await getDocument({ data, verbosity: 0 }).promise;
	const { info } = await pdf.getMetadata();
	const facts = info as Record<string, unknown>;
	const pages: Node[] = [];
	const shown: string[] = [];
	let right = 0;
	for (let number = 1; number <= pdf.numPages; number++) {
		const page = await pdf.getPage(number);
		const { items } = await page.getTextContent({ includeMarkedContent: true });
		const words = new Map<string, string>();
		const open: (string | undefined)[] = [];
		let all = "";
		for (const item of items) {
			if ("str" in item) {
				all += item.str;
				right = Math.max(right, item.transform[4] + item.width);
				const id = open.findLast((one) => one !== undefined);
				if (id) words.set(id, (words.get(id) ?? "") + item.str);
			} else if (item.type === "endMarkedContent") open.pop();
			else open.push(item.id ?? undefined);
		}
		shown.push(all);
		const tree = (await page.getStructTree()) as Tree | null;
		const [document] = tree?.children ?? [];
		if (document) pages.push(nodeOf(document, words));
	}
	const [preferences, marks] = [
		await pdf.getViewerPreferences(),
		await pdf.getMarkInfo(),
	] as unknown as [Map<string, unknown>, Map<string, unknown>];
	await pdf.loadingTask.destroy();
	return {
		info: {
			title: facts.Title,
			language: facts.Language,
			isMarked: marks.get("Marked"),
			showsTitle: preferences.get("DisplayDocTitle"),
		},
		pages,
		shown,
		right,
	};
}

/** Makes the node of an element. Elements that stand on other pages only are left out. */
function nodeOf(tree: Tree, words: ReadonlyMap<string, string>): Node {
	const parts = (tree.children ?? [])
		.filter(isHere)
		.map((child) =>
			child.type ? (words.get(child.id ?? "") ?? "") : nodeOf(child, words),
		);
	return {
		tag: tree.role ?? "",
		...(tree.alt && { alt: tree.alt }),
		children: parts.filter((part) => typeof part !== "string"),
		parts,
	};
}

const isHere = ({ type, children }: Tree): boolean =>
	type !== undefined || (children ?? []).some(isHere);

/** Elements between which a reader pauses. */
const BLOCKS = /^(H\d|P|L|LI|Lbl|LBody|TR|TH|TD|Table|Div)$/;

/** Returns all words of an element in the order in which they are read. */
export function wordsOf(node: Node | undefined): string {
	const read = ({ parts, tag }: Node): string => {
		const words = parts
			.map((part) => (typeof part === "string" ? part : read(part)))
			.join("");
		return BLOCKS.test(tag) ? ` ${words} ` : words;
	};
	return node ? read(node).replace(/\s+/g, " ").trim() : "";
}

/** Returns the elements with such a tag inside another one. */
export function partsOf(node: Node | undefined, tag: RegExp): Node[] {
	return (node?.children ?? []).flatMap((child) => [
		...(tag.test(child.tag) ? [child] : []),
		...partsOf(child, tag),
	]);
}
