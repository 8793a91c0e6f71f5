import { type CellFormat, readFormats } from "./cell-formats.ts";
import { readSheet, type SheetCells } from "./read-sheet.ts";
import { readSharedTexts } from "./shared-texts.ts";
import { UnreadableWorkbook } from "./unreadable-workbook.ts";
import { attributeOf, isSet, readTokens, type Token } from "./xml-tokens.ts";
import type { ZipArchive } from "./zip-archive.ts";

export interface Sheet {
	name: string;
	isHidden: boolean;
	/** Place of its cells in the archive. */
	part: string;
}

/** A workbook whose sheets can be read. */
export interface Workbook {
	/** The sheets with cells, in the order of their tabs. */
	sheets: readonly Sheet[];
	/**
	 * Reads the cells of a sheet. With `maxRows`, only the first rows that are not empty. Throws
	 * UnreadableWorkbook.
	 */
	read(sheet: Sheet, maxRows?: number): Promise<SheetCells>;
}

/**
 * Opens a workbook (.xlsx), as ISO/IEC 29500 describes it. Reads its list of sheets, and their cells
 * only when they are needed. Throws UnreadableWorkbook.
 */
export async function openWorkbook(archive: ZipArchive): Promise<Workbook> {
	const [main] = await relationsOf(archive, "");
	if (!main || !archive.has(main.part)) throw notExcel(archive);
	const relations = await relationsOf(archive, main.part);
	const partOf = (type: string) =>
		relations.find((relation) => relation.type === type)?.part ?? "";
	const { listed, is1904 } = await readMain(archive, main.part);
	const sheets = listed.flatMap(({ id, ...sheet }): Sheet[] => {
		const relation = relations.find(
			(one) => one.id === id && one.type === "worksheet",
		);
		// A sheet may also be only a chart.
		return relation ? [{ ...sheet, part: relation.part }] : [];
	});
	if (sheets.length === 0) {
		throw new UnreadableWorkbook("has no sheet with cells.");
	}
	let common: Promise<{ texts: string[]; formats: CellFormat[] }> | undefined;
	const readCommon = async () => ({
		texts: await readSharedTexts(archive.read(partOf("sharedStrings"))),
		formats: await readFormats(archive.read(partOf("styles"))),
	});
	/** The last sheet that was read whole. The reader may choose another row of headings. */
	let last: { part: string; cells: SheetCells } | undefined;
	return {
		sheets,
		async read({ part }, maxRows) {
			if (last?.part === part) return last.cells;
			common ??= readCommon();
			const found = { ...(await common), is1904 };
			const cells = await readSheet(archive.read(part), found, maxRows);
			if (maxRows === undefined) last = { part, cells };
			return cells;
		},
	};
}

interface Relation {
	id: string;
	/** The last word of its type, such as `worksheet`. Two versions of the format begin differently. */
	type: string;
	part: string;
}

/** Returns what a part refers to. The archive itself refers to its workbook. */
async function relationsOf(
	archive: ZipArchive,
	part: string,
): Promise<Relation[]> {
	const at = part.lastIndexOf("/") + 1;
	const folder = part.slice(0, at);
	const relations: Relation[] = [];
	const path = `${folder}_rels/${part.slice(at)}.rels`;
	for await (const tag of openTags(archive, path)) {
		if (tag.name !== "Relationship") continue;
		const target = attributeOf(tag, "Target") ?? "";
		relations.push({
			id: attributeOf(tag, "Id") ?? "",
			type: attributeOf(tag, "Type")?.split("/").at(-1) ?? "",
			part: resolve(target, folder),
		});
	}
	return part === ""
		? relations.filter(({ type }) => type === "officeDocument")
		: relations;
}

/** Returns the part that a relation names, or "" if it names something outside of the archive. */
function resolve(target: string, folder: string): string {
	try {
		const { protocol, pathname } = new URL(target, `zip://archive/${folder}`);
		return protocol === "zip:" ? decodeURI(pathname.slice(1)) : "";
	} catch {
		return "";
	}
}

/** Reads the list of sheets, and from which year the workbook counts its days. */
async function readMain(archive: ZipArchive, part: string) {
	const listed: (Omit<Sheet, "part"> & { id: string })[] = [];
	let is1904 = false;
	for await (const tag of openTags(archive, part)) {
		if (tag.name === "workbookPr") is1904 = isSet(tag, "date1904");
		const state = attributeOf(tag, "state");
		// Only a program can show a sheet that is "veryHidden".
		if (tag.name !== "sheet" || state === "veryHidden") continue;
		listed.push({
			name: attributeOf(tag, "name") ?? "",
			isHidden: state === "hidden",
			id: attributeOf(tag, "id") ?? "",
		});
	}
	return { listed, is1904 };
}

async function* openTags(
	archive: ZipArchive,
	part: string,
): AsyncGenerator<Extract<Token, { type: "open" }>, void> {
	for await (const tokens of readTokens(archive.read(part))) {
		for (const token of tokens) if (token.type === "open") yield token;
	}
}

/** Returns the error for an archive that is something else, with what to do instead. */
function notExcel(archive: ZipArchive): UnreadableWorkbook {
	const { names } = archive;
	const has = (name: string) => names.includes(name);
	const what = has("xl/workbook.bin")
		? "is a binary workbook (.xlsb)"
		: has("index/document.iwa")
			? "is a file of Numbers"
			: has("mimetype") && has("content.xml")
				? "is an OpenDocument file (.ods)"
				: undefined;
	return new UnreadableWorkbook(
		what
			? `${what}. Save it as an Excel workbook (.xlsx) or as CSV, and choose that file.`
			: "is not an Excel workbook (.xlsx). Save the table as .xlsx or as CSV, and choose that file.",
	);
}
