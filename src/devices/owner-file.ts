import { Readable } from "node:stream";
import { readTable } from "../csv/read-table.ts";
import { badFields } from "../errors.ts";
import { visibleText } from "./visible-text.ts";

/** Longest name of a device or an owner. */
export const MAX_CELL = 320;
/** The word for no owner in a file. An empty cell leaves the owner as it is. */
export const NOBODY = "nobody";

export interface OwnerFile {
	owners: { line: number; device: string; owner: string | null }[];
	/** Numbers of the lines whose owner is empty. */
	linesWithoutOwner: number[];
	problems: { line: number; field: "device" | "owner"; message: string }[];
	/** Number of the last line of the file that is not empty. */
	lastLine: number;
}

/** The lines that a call is about, both included. */
export interface LineRange {
	first: number;
	last: number;
	/** Most lines in the range. */
	most: number;
}

/**
 * Reads the owners of devices from some lines of CSV. Throws bad_request if the file as a whole is
 * wrong or has more lines in the range than it may; `problems` names wrong lines.
 */
export async function readOwnerFile(
	csv: string,
	{ first, last, most }: LineRange,
): Promise<OwnerFile> {
	const { heading, lines } = await readTable(Readable.from([Buffer.from(csv)]));
	const names = heading.map((name) => name.trim().toLowerCase());
	const deviceAt = columnOf(names, "device");
	const ownerAt = columnOf(names, "owner");
	const lastLine = lines.at(-1)?.line;
	if (lastLine === undefined) {
		throw wrongFile("must have lines below the headings; it has none");
	}
	const chosen = lines.filter(({ line }) => line >= first && line <= last);
	if (chosen.length > most) {
		throw wrongFile(
			`has ${chosen.length} lines to import, and a call takes ${most}; name the first and last of them with first_line and last_line`,
		);
	}
	const file: OwnerFile = {
		owners: [],
		linesWithoutOwner: [],
		problems: [],
		lastLine,
	};
	for (const { line, cells } of chosen) {
		const device = visibleText(cells[deviceAt] ?? "").trim();
		const owner = visibleText(cells[ownerAt] ?? "").trim();
		const wrong = whyWrong(device, owner);
		if (wrong) file.problems.push({ line, ...wrong });
		else if (owner === "") file.linesWithoutOwner.push(line);
		else {
			const isNobody = owner.toLowerCase() === NOBODY;
			file.owners.push({ line, device, owner: isNobody ? null : owner });
		}
	}
	return file;
}

function whyWrong(device: string, owner: string) {
	const message = `must have at most ${MAX_CELL} characters`;
	if (device === "") {
		return {
			field: "device" as const,
			message:
				"must be the id, serial number or hostname of a device, and is empty",
		};
	}
	if (device.length > MAX_CELL) return { field: "device" as const, message };
	if (owner.length > MAX_CELL) return { field: "owner" as const, message };
	return undefined;
}

function columnOf(names: readonly string[], name: string): number {
	const at = names.indexOf(name);
	if (at >= 0 && at === names.lastIndexOf(name)) return at;
	throw wrongFile(
		`must have the columns device and owner once each; it has ${visibleText(names.join(", ")).slice(0, 200)}`,
	);
}

function wrongFile(message: string) {
	return badFields([{ field: "csv", message }]);
}
