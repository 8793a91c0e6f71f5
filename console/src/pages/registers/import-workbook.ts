import type { KindDescription } from "../../kind-description.ts";
import type { SheetTable } from "../../workbook/open-file.ts";
import type { Workbook } from "../../workbook/workbook.ts";
import {
	type ChosenFile,
	decode,
	isWorkbook,
	readBytes,
} from "./import-file.ts";

/** A workbook of which one sheet is imported. */
export interface ChosenWorkbook {
	name: string;
	workbook: Workbook;
	/** Number of the sheet that is imported. */
	sheet: number;
}

/** A sheet that is read as the table of an import. */
export type ChosenSheet = ChosenFile & SheetTable;

/**
 * Reads a file with text, or opens a workbook and finds the sheet with the headings of the register.
 * Throws an Error with a message for the reader.
 */
export async function openChosenFile(
	file: File,
	kind: KindDescription,
): Promise<ChosenFile | ChosenWorkbook> {
	const { name } = file;
	const bytes = await readBytes(file);
	if (!isWorkbook(bytes)) return decode(name, bytes);
	return withName(name, async ({ findSheet, openFile }) => {
		const workbook = await openFile(new Uint8Array(bytes));
		return { name, workbook, sheet: await findSheet(workbook, kind) };
	});
}

/**
 * Reads a sheet of a workbook. Without `headingRow`, looks for the row with the headings. Throws an
 * Error with a message for the reader.
 */
export function readChosenSheet(
	{ name, workbook }: ChosenWorkbook,
	sheet: number,
	kind: KindDescription,
	headingRow?: number,
): Promise<ChosenSheet> {
	return withName(name, async ({ readTable }) => ({
		name,
		isGuessed: false,
		...(await readTable(workbook, sheet, kind, headingRow)),
	}));
}

/** Loads what reads workbooks, because most files are CSV. Puts the file's name into errors. */
async function withName<Result>(
	name: string,
	read: (
		reading: typeof import("../../workbook/open-file.ts"),
	) => Promise<Result>,
): Promise<Result> {
	try {
		return await read(await import("../../workbook/open-file.ts"));
	} catch (error) {
		const { name: kind, message } = error as Error;
		throw new Error(
			kind === "UnreadableWorkbook"
				? `${name} ${message}`
				: `${name} could not be read. Reload this page and choose the file again.`,
		);
	}
}
