/** Largest file that the server accepts, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface ChosenFile {
	name: string;
	text: string;
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
	const decode = (encoding: string, fatal = false) =>
		new TextDecoder(encoding, { fatal }).decode(bytes);
	if (first === 0xff && second === 0xfe) {
		return { name, text: decode("utf-16le"), isGuessed: false };
	}
	if (first === 0xfe && second === 0xff) {
		return { name, text: decode("utf-16be"), isGuessed: false };
	}
	try {
		return { name, text: decode("utf-8", true), isGuessed: false };
	} catch {
		return { name, text: decode("windows-1252"), isGuessed: true };
	}
}
