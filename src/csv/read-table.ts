import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { CsvError, parse } from "csv-parse";
import { AppError } from "../errors.ts";
import { MAX_COLUMNS, MAX_CSV_BYTES, MAX_LINES } from "./import-limits.ts";

/** Greatest length of the heading line and of any other line, in characters. */
const MAX_HEADING = 64 * 1024;
const MAX_LINE = 1024 * 1024;
/**
 * Number of bytes that are parsed before other requests get their turn. Parsing them takes a few
 * milliseconds.
 */
const SLICE = 32 * 1024;

/** The cells of a CSV file, before they are interpreted. */
export class CsvTable {
	readonly heading: readonly string[];
	readonly lines: readonly TableLine[];

	constructor(heading: readonly string[], lines: readonly TableLine[]) {
		this.heading = heading;
		this.lines = lines;
	}
}

interface TableLine {
	/**
	 * Number of the line as a spreadsheet counts it. Each record is one line, and so is each empty
	 * line, also above the heading.
	 */
	line: number;
	cells: readonly string[];
}

/**
 * Reads a CSV file while it arrives, without its empty lines. A long file or a long line does not
 * keep other requests waiting. Throws bad_request if the bytes are not CSV or are too many.
 */
export async function readTable(
	bytes: AsyncIterable<Uint8Array>,
): Promise<CsvTable> {
	const slices = slicesOf(bytes);
	const start = await readHeading(slices);
	const delimiter = delimiterOf(start);
	let heading: string[] = [];
	let headingLine = 1;
	let line = 0;
	const lines: TableLine[] = [];
	try {
		await pipeline(
			async function* () {
				yield start;
				yield* slices;
			},
			parse({
				delimiter,
				relax_column_count: true,
				max_record_size: MAX_LINE,
			}),
			async (records: AsyncIterable<string[]>) => {
				for await (const cells of records) {
					line += 1;
					if (!cells.every(isBlank)) {
						if (heading.length > 0) lines.push({ line, cells });
						else {
							heading = requireHeading(cells);
							headingLine = line;
						}
					}
					if (line > headingLine + MAX_LINES) {
						throw wrongFile(
							`has more than ${MAX_LINES} lines, the limit for one import; split the file and import the parts`,
						);
					}
				}
			},
		);
	} catch (error) {
		throw error instanceof CsvError ? describe(error) : error;
	}
	return new CsvTable(requireHeading(heading), lines);
}

/** Yields the text in slices. Other requests get their turn between two slices. */
async function* slicesOf(
	bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void> {
	const decoder = new TextDecoder("utf-8", { fatal: true });
	let total = 0;
	for await (const chunk of bytes) {
		total += chunk.length;
		if (total > MAX_CSV_BYTES) {
			throw tooManyBytes();
		}
		for (let from = 0; from < chunk.length; from += SLICE) {
			yield decode(decoder, chunk.subarray(from, from + SLICE));
			await setImmediate();
		}
	}
	yield decode(decoder);
}

/** Decodes the next bytes. If there are no more bytes, checks that the text is complete. */
function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
	try {
		return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
	} catch {
		throw wrongFile("is not UTF-8 text; save it as CSV UTF-8");
	}
}

/** Returns the beginning of the text, including the whole first line that is not empty. */
async function readHeading(slices: AsyncGenerator<string>): Promise<string> {
	let start = "";
	while (!/[\r\n]/.test(withoutEmptyLines(start) ?? "")) {
		if (start.length > MAX_HEADING) {
			throw wrongFile(
				`has a first line of more than ${MAX_HEADING} characters; the first line must contain only the names of the columns`,
			);
		}
		const { value, done } = await slices.next();
		if (done) break;
		start += value;
	}
	return start;
}

/** Returns the text from its first line that has more than separators, or undefined if none has. */
function withoutEmptyLines(start: string): string | undefined {
	const end = start.search(/[^\s\ufeff,;"]/);
	if (end < 0) return undefined;
	const empty = start.slice(0, end);
	return start.slice(
		Math.max(empty.lastIndexOf("\n"), empty.lastIndexOf("\r")) + 1,
	);
}

/**
 * Returns the separator that is most frequent in the heading, outside of quotes. Excel writes
 * semicolons in countries that use a decimal comma.
 */
function delimiterOf(start: string): string {
	const [heading = start] =
		withoutEmptyLines(start)
			?.replace(/"[^"]*"/g, "")
			.split(/[\r\n]/, 1) ?? [];
	const counted = [",", ";", "\t"].map((delimiter) => ({
		delimiter,
		count: heading.split(delimiter).length,
	}));
	counted.sort((a, b) => b.count - a.count);
	return counted[0]?.delimiter ?? ",";
}

function requireHeading(cells: string[]): string[] {
	if (cells.length > MAX_COLUMNS) {
		throw wrongFile(
			`has ${cells.length} columns, but at most ${MAX_COLUMNS} are allowed; remove the others`,
		);
	}
	if (cells.every(isBlank)) {
		throw wrongFile(
			"is empty; its first line must contain the names of the columns",
		);
	}
	return cells;
}

function isBlank(cell: string): boolean {
	return cell.trim() === "";
}

function describe(error: CsvError): AppError {
	const { lines } = error as CsvError & { lines?: number };
	const where = lines === undefined ? "" : ` near line ${lines}`;
	switch (error.code) {
		case "CSV_QUOTE_NOT_CLOSED":
			return wrongFile(
				`has a quoted cell${where} that does not end; add the closing quote`,
			);
		case "CSV_MAX_RECORD_SIZE":
			return wrongFile(
				`has a line${where} of more than ${MAX_LINE} characters; look for an extra quote`,
			);
		default:
			return wrongFile(
				`is not valid CSV${where}; enclose a cell that contains a quote in quotes, and double the quote inside it`,
			);
	}
}

export function tooManyBytes(): AppError {
	return wrongFile(
		`has more than ${MAX_CSV_BYTES} bytes, the limit for one import; split the file and import the parts`,
	);
}

export function wrongFile(what: string): AppError {
	const issue = { field: "csv", message: `the file ${what}` };
	return new AppError("bad_request", issue.message, { fields: [issue] });
}
