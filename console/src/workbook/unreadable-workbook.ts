/** A reason why a file is not read. The message continues a sentence that begins with its name. */
export class UnreadableWorkbook extends Error {
	override name = "UnreadableWorkbook";
}

export const damaged = () =>
	new UnreadableWorkbook(
		"is damaged or incomplete. Open it in your spreadsheet program, save it again as .xlsx, and choose that file.",
	);
