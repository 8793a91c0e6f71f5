import { createHash } from "node:crypto";
import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { authorize, invoke, type Services } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import type { Principal } from "../principal.ts";
import { organizationId } from "../records/list-pages.ts";
import { recordKinds } from "../registers/all.ts";
import { collectLines, importedLine } from "./import-answer.ts";
import { cellKindsOf, choiceFieldsOf, dateFieldsOf } from "./import-cells.ts";
import {
	applyAnswers,
	findUnknownValues,
	unknownValue,
	valueChoices,
} from "./import-choices.ts";
import { dateColumn, dateOrders, findDateColumns } from "./import-dates.ts";
import { readFile, rejectUnknown } from "./import-file.ts";
import { MAX_LINES } from "./import-limits.ts";
import { chooseMatch, MATCH_BY } from "./import-matching.ts";
import { type PlannedLine, planImport, printOf } from "./import-plan.ts";
import { type ChangingLine, storeLines } from "./import-store.ts";
import { KINDS, makeImportId, noteImport } from "./imports.ts";
import { CsvTable, readTable } from "./read-table.ts";

/** Number of wrong lines that an error names. */
const MAX_TOLD = 20;

/** Largest number of columns in a file. */
const MAX_CHOICES = 200;

export const importRecords = defineOperation({
	name: "importRecords",
	title: "Import records from CSV",
	description: `Add and change the records of a register from a CSV file, at most ${MAX_LINES} lines. Returns what happens to each line. By default this is a dry run, which stores nothing. With dry_run: false, either every line is stored or, if one is wrong, none, unless skip_wrong is true.`,
	toolset: "csv",
	access: "write",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(KINDS).describe("Kind of record in the file"),
		csv: z.instanceof(CsvTable, {
			error: "must be a CSV file, sent with the header Content-Type: text/csv",
		}),
		match_by: z
			.enum(MATCH_BY)
			.optional()
			.describe(
				"Column that matches a line with an existing record; none: every line is a new record. By default, the first of id, reference_id and primary_email_address in the file",
			),
		dry_run: z
			.boolean()
			.optional()
			.describe("false stores the lines; true by default"),
		columns: z
			.record(z.string(), z.string().nullable())
			.refine((given) => Object.keys(given).length <= MAX_CHOICES, {
				error: `must name at most ${MAX_CHOICES} columns`,
			})
			.optional()
			.describe(
				"The field of a column by its heading, for headings that are no fields; null skips the column",
			),
		values: valueChoices
			.optional()
			.describe(
				"The meaning of unknown values of choices, by field and value: a choice; null: as if the cell were not there; SKIP: skips the lines",
			),
		date_orders: dateOrders
			.optional()
			.describe(
				"Order of the dates of a field, if date_columns asks: DMY: the day comes before the month, as in 31/12/2026; MDY: the month comes first",
			),
		skip_wrong: z
			.boolean()
			.optional()
			.describe("true skips the wrong lines and stores the others"),
		skip_known_names: z
			.boolean()
			.optional()
			.describe(
				"true skips new records whose name another record already has; the outcome of these lines is SKIP",
			),
		plan: z
			.string()
			.max(100)
			.optional()
			.describe(
				"The plan that the dry run returned. The import is rejected if it would now do something else",
			),
	}),
	output: z.object({
		dry_run: z.boolean(),
		plan: z.string().describe("Identifies the content of the lines"),
		import_id: z
			.string()
			.nullable()
			.describe("The import, for rollBackImport; null: nothing was stored"),
		matched_by: z.enum(MATCH_BY),
		add: z.int(),
		update: z.int(),
		unchanged: z.int(),
		skipped: z.int(),
		wrong: z.int(),
		skipped_by_value: z
			.int()
			.describe("Those of the skipped lines that values skips"),
		known_names: z
			.int()
			.describe(
				"Lines with same_name, added or skipped; they may be duplicates",
			),
		ignored_columns: z
			.array(z.string())
			.describe(
				"Columns that an import cannot set: times, scores, names beside ids",
			),
		unknown_columns: z
			.array(z.string())
			.describe("Columns that are no fields; only a dry run skips them"),
		guessed_columns: z
			.array(z.object({ heading: z.string(), field: z.string() }))
			.describe("Columns that are read by another word for their field"),
		unknown_values: z
			.array(unknownValue)
			.describe(
				"Values of choices that are none, each once, at most 50; values may say what they mean",
			),
		date_columns: z
			.array(dateColumn)
			.describe(
				"Columns with dates such as 03/04/2026, which either order can mean; date_orders may say which one is meant",
			),
		brief_lines: z
			.int()
			.describe("Lines that are not told in full; their left_out is above 0"),
		lines: z.array(importedLine),
	}),
	run: async (context, input) => {
		const isDryRun = input.dry_run ?? true;
		const kind = recordKinds.find((known) => known.kind === input.kind);
		if (!kind) throw new Error(`there is no kind of record ${input.kind}`);
		const inFile = await readFile(kind, input.csv, input.columns);
		if (!isDryRun) rejectUnknown(kind, inFile);
		const cellKinds = cellKindsOf(kind);
		const choices = choiceFieldsOf(cellKinds);
		const asked = await findUnknownValues(inFile, choices);
		const { file, skipped } = await applyAnswers(inFile, choices, input.values);
		const dates = await findDateColumns(
			file,
			dateFieldsOf(cellKinds),
			input.date_orders,
		);
		const by = chooseMatch(kind, file, input.match_by);
		const counts = { ADD: 0, UPDATE: 0, UNCHANGED: 0, SKIP: 0, WRONG: 0 };
		let knownNames = 0;
		const hash = createHash("sha256");
		const answer = collectLines(kind, file, asked, dates);
		const changing: ChangingLine[] = [];
		const wrong: PlannedLine[] = [];
		const options = {
			lock: !isDryRun,
			skipKnownNames: input.skip_known_names ?? false,
			dates,
			skipped,
		};
		for await (const planned of planImport(
			context.client,
			kind,
			context.membership,
			file,
			by,
			options,
		)) {
			const { line, outcome, before, values, sameName } = planned;
			counts[outcome]++;
			if (sameName) knownNames++;
			hash.update(printOf(planned));
			const at = answer.lines.length;
			answer.add(planned);
			if (outcome === "WRONG" && wrong.length < MAX_TOLD) wrong.push(planned);
			const isChanging = outcome === "ADD" || outcome === "UPDATE";
			if (isDryRun || !isChanging) continue;
			changing.push({ at, line, id: before && String(before.id), values });
		}
		const print = hash.digest("base64url");
		let importId: string | null = null;
		if (!isDryRun) {
			if (!input.skip_wrong) rejectWrong(wrong, counts.WRONG);
			if (input.plan !== undefined && input.plan !== print) {
				throw new AppError(
					"bad_request",
					"the register or the file has changed since the dry run; check the result of a new dry run, and confirm again",
				);
			}
			if (changing.length > 0) {
				importId = makeImportId(context);
				await storeLines(context, kind, changing, importId, answer.stored);
				const [added, updated] = [counts.ADD, counts.UPDATE];
				await noteImport(context, importId, kind, { added, updated });
			}
		}
		return {
			dry_run: isDryRun,
			plan: print,
			import_id: importId,
			matched_by: by,
			add: counts.ADD,
			update: counts.UPDATE,
			unchanged: counts.UNCHANGED,
			skipped: counts.SKIP,
			wrong: counts.WRONG,
			skipped_by_value: skipped.size,
			known_names: knownNames,
			ignored_columns: file.ignored,
			unknown_columns: file.unknown,
			guessed_columns: file.guessed,
			unknown_values: [...asked.values()].flatMap((values) => [
				...values.values(),
			]),
			date_columns: [...dates.values()].filter(({ count }) => count > 0),
			brief_lines: answer.lines.filter(({ left_out }) => left_out > 0).length,
			lines: answer.lines,
		};
	},
});

/**
 * Imports a CSV file. `input` comes from a query string and is the input of importRecords without the
 * file. The function checks the caller's permission before it reads the
 * first byte. Throws the same errors as invoke, and bad_request for a file that cannot be read.
 */
export async function importCsv(
	services: Services,
	principal: Principal,
	input: Record<string, string>,
	bytes: unknown,
	requestId: string,
): Promise<z.output<typeof importRecords.output>> {
	await authorize(services, principal, importRecords, input);
	const given: Record<string, unknown> = { ...input };
	for (const name of ["dry_run", "skip_wrong", "skip_known_names"]) {
		const flag = { true: true, false: false }[input[name] ?? ""];
		if (flag !== undefined) given[name] = flag;
	}
	for (const name of ["columns", "values", "date_orders"]) {
		const json = input[name];
		if (json !== undefined) given[name] = parsed(json);
	}
	if (isStream(bytes)) given.csv = await readTable(bytes);
	return invoke(services, principal, importRecords, given, requestId);
}

/**
 * Parses JSON of a query string. Returns the text itself if it is none, for the schema to reject.
 */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
	return (
		typeof body === "object" && body !== null && Symbol.asyncIterator in body
	);
}

/** Throws bad_request if there are wrong lines. `told` are the first of them. */
function rejectWrong(told: readonly PlannedLine[], count: number): void {
	if (count === 0) return;
	const fields = told.flatMap(({ line, issues }) =>
		issues.map(({ field, message }) => ({
			field: [`line ${line}`, field].filter(Boolean).join(", "),
			message,
		})),
	);
	throw new AppError(
		"bad_request",
		`nothing was imported, because the file has wrong lines (${count}): ${badFields(fields).message}`,
		{ fields },
	);
}
