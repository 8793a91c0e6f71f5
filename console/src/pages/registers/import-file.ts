/** Largest file that the server accepts, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

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
	const { name } = file;
	if (file.size > MAX_BYTES) {
		throw new Error(
			`${name} is larger than 16 MB, the limit for one import. Split the file and import the parts.`,
		);
	}
	const bytes = await file.arrayBuffer().catch(() => {
		throw new Error(
			`${name} cannot be read. If it has changed since you chose it, choose it again.`,
		);
	});
	const [first, second] = new Uint8Array(bytes);
	if (first === 0x50 && second === 0x4b) {
		throw new Error(
			`${name} is a workbook. Save it as CSV in your spreadsheet program ("CSV UTF-8" in Excel), then choose that file.`,
		);
	}
	const decode = (encoding: string, isGuessed: boolean): ChosenFile => {
		// A file that is not UTF-8 throws. The other encodings accept anything.
		const decoder = new TextDecoder(encoding, { fatal: encoding === "utf-8" });
		const text = decoder.decode(bytes);
		return { name, text, lines: countLines(text), isGuessed };
	};
	if (first === 0xff && second === 0xfe) {
		return decode("utf-16le", false);
	}
	if (first === 0xfe && second === 0xff) {
		return decode("utf-16be", false);
	}
	try {
		return decode("utf-8", false);
	} catch {
		return decode("windows-1252", true);
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
