import { z } from "zod";
import type { AnyRecordKind } from "../records/kind.ts";
import { recordName } from "../records/record-name.ts";
import { shorten } from "../records/result-rows.ts";
import type { Values } from "../records/values.ts";
import { type AskedValues, askedValue } from "./import-choices.ts";
import { type DateColumns, waitsForOrder } from "./import-dates.ts";
import type { CsvFile } from "./import-file.ts";
import type { PlannedLine } from "./import-plan.ts";

/**
 * Largest length of the changes and problems that an answer tells in full, in characters of JSON. A
 * small file may change texts of 200 MB and have 300,000 problems.
 */
const MAX_IN_FULL = 2_000_000;

export const importedLine = z.object({
	line: z
		.int()
		.describe("Number of the line as in a spreadsheet; the heading is line 1"),
	outcome: z.enum(["ADD", "UPDATE", "UNCHANGED", "SKIP", "WRONG"]),
	id: z.string().nullable().describe("null: the record does not exist yet"),
	name: z.string().nullable(),
	changes: z
		.record(z.string(), z.object({ before: z.unknown(), after: z.unknown() }))
		.describe("Fields that an UPDATE changes; long texts are cut"),
	issues: z
		.array(
			z.object({
				column: z
					.string()
					.describe("Heading of the column; empty: the whole line"),
				message: z.string(),
				unknown_value: z
					.string()
					.nullable()
					.describe(
						"The value in unknown_values that has no meaning yet; null: another problem",
					),
				waits_for_order: z
					.boolean()
					.describe("True if date_columns asks how to read the date"),
			}),
		)
		.describe("Problems of a WRONG line"),
	same_name: z
		.object({ id: z.string(), name: z.string() })
		.nullable()
		.describe("The record that already has the name of a new one"),
	left_out: z
		.int()
		.describe(
			"Changes and issues of the line that are not in the answer, because it would be too long",
		),
});

type ImportedLine = z.input<typeof importedLine>;

/** The lines of an answer, in the order of the file. */
interface AnswerLines {
	lines: ImportedLine[];
	/** Adds the next line of the file. */
	add: (planned: PlannedLine) => void;
	/** Notes the record that was stored for a line, which `at` counts from 0. */
	stored: (at: number, record: Values) => void;
}

/**
 * Collects the lines of an answer, and keeps nothing else of them. After MAX_IN_FULL characters, a
 * line leaves out its changes and all problems but one.
 */
export function collectLines(
	kind: AnyRecordKind,
	file: CsvFile,
	asked: AskedValues,
	dates: DateColumns,
): AnswerLines {
	const lines: ImportedLine[] = [];
	let room = MAX_IN_FULL;
	return {
		lines,
		add(planned) {
			const whole = describeLine(
				kind,
				file,
				lines.length,
				planned,
				asked,
				dates,
			);
			const text = JSON.stringify(whole);
			const hasDetails =
				planned.issues.length > 0 || Object.keys(whole.changes).length > 0;
			if (hasDetails) room = Math.max(0, room - text.length);
			const told = room > 0 ? text : JSON.stringify(briefLine(whole));
			// A part of a long text keeps the whole text in memory. A text that was parsed does not.
			lines.push(JSON.parse(told));
		},
		stored(at, record) {
			const line = lines[at];
			if (!line) throw new Error(`there is no line ${at}`);
			line.id = String(record.id);
			line.name = nameOf(kind, record) ?? line.name;
		},
	};
}

function describeLine(
	kind: AnyRecordKind,
	{ headings, lines }: CsvFile,
	at: number,
	{ line, outcome, before, values, issues, sameName }: PlannedLine,
	asked: AskedValues,
	dates: DateColumns,
): ImportedLine {
	const fileLine = lines[at];
	const record: Values = { ...before, ...values };
	// An invalid record has no values, so the name is the text in the file.
	const inFile = kind.title && fileLine?.cells.get(kind.title);
	const changes = before
		? Object.entries(values).map(([name, after]) => [
				name,
				{ before: cut(before[name]), after: cut(after) },
			])
		: [];
	return {
		line,
		outcome,
		id: typeof record.id === "string" ? record.id : null,
		name: nameOf(kind, record) ?? (inFile ? shorten(inFile) : null),
		changes: Object.fromEntries(changes),
		issues: issues.map(({ field, message }) => {
			const name = /^\w+/.exec(field)?.[0] ?? "";
			return {
				column: headings.get(name) ?? name,
				message,
				unknown_value: (fileLine && askedValue(fileLine, name, asked)) ?? null,
				waits_for_order:
					fileLine !== undefined && waitsForOrder(fileLine, name, dates),
			};
		}),
		same_name: sameName
			? { id: sameName.id, name: shorten(sameName.name) }
			: null,
		left_out: 0,
	};
}

/** Keeps one problem of a line, if possible one that no answer of the reader solves. */
function briefLine(line: ImportedLine): ImportedLine {
	const told =
		line.issues.find(
			(issue) => issue.unknown_value === null && !issue.waits_for_order,
		) ?? line.issues[0];
	return {
		...line,
		changes: {},
		issues: told ? [{ ...told, message: shorten(told.message) }] : [],
		left_out:
			Object.keys(line.changes).length + Math.max(line.issues.length - 1, 0),
	};
}

function nameOf(kind: AnyRecordKind, record: Values): string | null {
	const name = recordName(kind, record);
	return name === null ? null : shorten(name);
}

function cut(value: unknown): unknown {
	return typeof value === "string" ? shorten(value) : (value ?? null);
}
