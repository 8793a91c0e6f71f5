import { MAX_CSV_BYTES } from "../../../../src/csv/import-limits.ts";

export interface ChosenFile {
	name: string;
	text: string;
	/** Number of lines below the heading. */
	lines: number;
	/**
	 * True if the file was not Unicode. Its encoding was then guessed, and accented letters may be
	 * wrong.
	 */
	isGuessed: boolean;
}

/**
 * Returns the text of a file in any encoding that spreadsheets use: UTF-8, UTF-16 ("Unicode text")
 * or the legacy encoding of Windows. Throws an Error with a message for the reader.
 */
export async function readChosenFile(file: File): Promise<ChosenFile> {
	const bytes = await readBytes(file);
	if (isWorkbook(bytes)) {
		throw new Error(
			`${file.name} is a workbook. Save it as CSV in your spreadsheet program ("CSV UTF-8" in Excel), then choose that file.`,
		);
	}
	return decode(file.name, bytes);
}

/** Returns the bytes of a file. Throws an Error with a message for the reader. */
export async function readBytes(file: File): Promise<ArrayBuffer> {
	if (file.size > MAX_CSV_BYTES) {
		throw new Error(
			`${file.name} is larger than ${MAX_CSV_BYTES / 2 ** 20} MB, the limit for one import. Split the file and import the parts.`,
		);
	}
	return file.arrayBuffer().catch(() => {
		throw new Error(
			`${file.name} cannot be read. If it has changed since you chose it, choose it again.`,
		);
	});
}

/** Returns true for the signs with which zip archives and Excel files from before 2007 begin. */
export function isWorkbook(bytes: ArrayBuffer): boolean {
	const [first, second] = new Uint8Array(bytes);
	return (
		(first === 0x50 && second === 0x4b) || (first === 0xd0 && second === 0xcf)
	);
}

/** Decodes a file of text. Throws an Error if it is a web page or XML. */
export function decode(name: string, bytes: ArrayBuffer): ChosenFile {
	const file = decodeText(name, bytes);
	// Some programs give the name .xls to such a file, because Excel opens it.
	if (/^\s*<(?:!doctype|html|\?xml|table|meta)\b/i.test(file.text)) {
		throw new Error(
			`${name} is a web page or XML. Open it in your spreadsheet program, save it as CSV, and choose that file.`,
		);
	}
	return file;
}

function decodeText(name: string, bytes: ArrayBuffer): ChosenFile {
	const [first, second] = new Uint8Array(bytes);
	const as = (encoding: string, isGuessed: boolean): ChosenFile => {
		// A file that is not UTF-8 throws. The other encodings accept anything.
		const decoder = new TextDecoder(encoding, { fatal: encoding === "utf-8" });
		const text = decoder.decode(bytes);
		return { name, text, lines: countLines(text), isGuessed };
	};
	if (first === 0xff && second === 0xfe) return as("utf-16le", false);
	if (first === 0xfe && second === 0xff) return as("utf-16be", false);
	try {
		return as("utf-8", false);
	} catch {
		return as("windows-1252", true);
	}
}

/** Counts the lines below the heading that are not empty. A line break in quotes ends no line. */
function countLines(text: string): number {
	let lines = 0;
	let isQuoted = false;
	let isEmpty = true;
	for (let at = 0; at <= text.length; at++) {
		const sign = text[at] ?? "\n";
		if (sign === '"') isQuoted = !isQuoted;
		if (sign !== "\n" && sign !== "\r") isEmpty = false;
		else if (!isQuoted || at === text.length) {
			if (!isEmpty) lines++;
			isEmpty = true;
		}
	}
	return Math.max(0, lines - 1);
}
