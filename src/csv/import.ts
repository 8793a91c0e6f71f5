import { z } from "zod";
import { AppError, badFields } from "../errors.ts";
import { authorize, invoke, type Services } from "../invoke.ts";
import { makeEventLoopYield } from "../load/event-loop-yield.ts";
import { type Context, defineOperation } from "../operation.ts";
import type { Principal } from "../principal.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { organizationId } from "../records/list-pages.ts";
import { recordName } from "../records/record-name.ts";
import { insertRecord, noteStored, updateRecord } from "../records/store.ts";
import type { Values } from "../records/values.ts";
import { recordKinds } from "../registers/all.ts";
import { cellKindsOf, choiceFieldsOf } from "./import-cells.ts";
import {
	type AskedValues,
	applyAnswers,
	askedValue,
	findUnknownValues,
	unknownValue,
	valueChoices,
} from "./import-choices.ts";
import { type CsvFile, readFile, rejectUnknown } from "./import-file.ts";
import { chooseMatch, MATCH_BY } from "./import-matching.ts";
import { fingerprint, type PlannedLine, planImport } from "./import-plan.ts";
import { KINDS, makeImportId, noteImport } from "./imports.ts";
import { CsvTable, MAX_LINES, readTable } from "./read-table.ts";

/** Number of records that are stored concurrently. Their statements are then sent together. */
const AT_ONCE = 100;
const MAX_TOLD = 20;

const importedLine = z.object({
	line: z
		.int()
		.describe("Number of the line as in a spreadsheet; the heading is line 1"),
	outcome: z.enum(["ADD", "UPDATE", "UNCHANGED", "SKIP", "WRONG"]),
	id: z.string().nullable().describe("null: the record does not exist yet"),
	name: z.string().nullable(),
	changes: z
		.record(z.string(), z.object({ before: z.unknown(), after: z.unknown() }))
		.describe("Fields that an UPDATE changes"),
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
			}),
		)
		.describe("Problems of a WRONG line"),
	same_name: z
		.object({ id: z.string(), name: z.string() })
		.nullable()
		.describe("The record that already has the name of a new one"),
});

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
		lines: z.array(importedLine),
	}),
	run: async (context, input) => {
		const isDryRun = input.dry_run ?? true;
		const kind = recordKinds.find((known) => known.kind === input.kind);
		if (!kind) throw new Error(`there is no kind of record ${input.kind}`);
		const inFile = await readFile(kind, input.csv, input.columns);
		if (!isDryRun) rejectUnknown(kind, inFile);
		const choices = choiceFieldsOf(cellKindsOf(kind));
		const asked = await findUnknownValues(inFile, choices);
		const { file, skipped } = await applyAnswers(inFile, choices, input.values);
		const by = chooseMatch(kind, file, input.match_by);
		const plan = await planImport(
			context.client,
			kind,
			context.membership,
			file,
			by,
			{
				lock: !isDryRun,
				skipKnownNames: input.skip_known_names ?? false,
				skipped,
			},
		);
		const print = await fingerprint(plan);
		const count = (outcome: PlannedLine["outcome"]) =>
			plan.filter((planned) => planned.outcome === outcome).length;
		const [added, updated] = [count("ADD"), count("UPDATE")];
		let stored: Map<PlannedLine, Values> | undefined;
		let importId: string | null = null;
		if (!isDryRun) {
			if (!input.skip_wrong) rejectWrong(plan);
			if (input.plan !== undefined && input.plan !== print) {
				throw new AppError(
					"bad_request",
					"the register or the file has changed since the dry run; check the result of a new dry run, and confirm again",
				);
			}
			if (added + updated > 0) {
				importId = makeImportId(context);
				stored = await storePlan(context, kind, plan, importId);
				await noteImport(context, importId, kind, { added, updated });
			}
		}
		const lines: z.input<typeof importedLine>[] = [];
		const yieldIfDue = makeEventLoopYield();
		for (const [at, planned] of plan.entries()) {
			await yieldIfDue();
			const record = stored?.get(planned);
			lines.push(describeLine(kind, file, at, planned, record, asked));
		}
		return {
			dry_run: isDryRun,
			plan: print,
			import_id: importId,
			matched_by: by,
			add: added,
			update: updated,
			unchanged: count("UNCHANGED"),
			skipped: count("SKIP"),
			wrong: count("WRONG"),
			skipped_by_value: skipped.size,
			known_names: plan.filter(({ sameName }) => sameName).length,
			ignored_columns: file.ignored,
			unknown_columns: file.unknown,
			guessed_columns: file.guessed,
			unknown_values: [...asked.values()].flatMap((values) => [
				...values.values(),
			]),
			lines,
		};
	},
});

/**
 * Imports a CSV file while it arrives. `input` comes from a query string and is the input of
 * importRecords without the file. The function checks the caller's permission before it reads the
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
	for (const name of ["columns", "values"]) {
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

function rejectWrong(plan: PlannedLine[]): void {
	const wrong = plan.filter(({ outcome }) => outcome === "WRONG");
	if (wrong.length === 0) return;
	const fields = wrong.slice(0, MAX_TOLD).flatMap(({ line, issues }) =>
		issues.map(({ field, message }) => ({
			field: [`line ${line}`, field].filter(Boolean).join(", "),
			message,
		})),
	);
	throw new AppError(
		"bad_request",
		`nothing was imported, because the file has wrong lines (${wrong.length}): ${badFields(fields).message}`,
		{ fields },
	);
}

/**
 * Stores every line in the same way as the operations add and update do, and returns the record of
 * each line. Lines with a reference id are stored first. Otherwise a record without one might get
 * the reference id that a later line gives.
 */
async function storePlan(
	context: Context,
	kind: AnyRecordKind,
	plan: PlannedLine[],
	importId: string,
): Promise<Map<PlannedLine, Values>> {
	const changing = plan.filter(
		({ outcome }) => outcome === "ADD" || outcome === "UPDATE",
	);
	const [first, then] = [
		changing.filter(({ before, values }) => before || values.reference_id),
		changing.filter(({ before, values }) => !before && !values.reference_id),
	];
	const ids = new Map<PlannedLine, string>();
	const storeLine = async (planned: PlannedLine) => {
		const { before, values } = planned;
		if (!before) {
			ids.set(planned, await insertRecord(context, kind, values));
			return;
		}
		const id = String(before.id);
		await updateRecord(context, kind, id, values);
		ids.set(planned, id);
	};
	for (const lines of [first, then]) {
		for (let from = 0; from < lines.length; from += AT_ONCE) {
			await allOf(lines.slice(from, from + AT_ONCE), storeLine);
		}
	}
	const noted = changing.map((planned) => ({
		id: ids.get(planned) ?? "",
		...(planned.before && { before: planned.before }),
	}));
	const records = await noteStored(context, kind, noted, importId);
	return new Map(changing.map((planned, n) => [planned, records[n] as Values]));
}

/**
 * Stores lines concurrently. If one fails, it still waits for the others, so that none of them
 * writes after the transaction has ended. Throws the first error, because the later errors only say
 * that the transaction has failed.
 */
async function allOf(
	lines: PlannedLine[],
	store: (planned: PlannedLine) => Promise<void>,
): Promise<void> {
	let failure: { line: number; error: unknown } | undefined;
	await Promise.all(
		lines.map((planned) =>
			store(planned).catch((error) => {
				failure ??= { line: planned.line, error };
			}),
		),
	);
	if (!failure) return;
	const { line, error } = failure;
	if (!(error instanceof AppError) || !error.fields) throw error;
	throw badFields(
		error.fields.map(({ field, message }) => ({
			field: `line ${line}, ${field}`,
			message,
		})),
	);
}

function describeLine(
	kind: AnyRecordKind,
	{ headings, lines }: CsvFile,
	at: number,
	{ line, outcome, before, values, issues, sameName }: PlannedLine,
	stored: Values | undefined,
	asked: AskedValues,
): z.input<typeof importedLine> {
	const fileLine = lines[at];
	const record: Values = stored ?? { ...before, ...values };
	// An invalid record has no values, so the name is the text in the file.
	const inFile = kind.title && fileLine?.cells.get(kind.title);
	const changes = before
		? Object.entries(values).map(([name, after]) => [
				name,
				{ before: before[name], after },
			])
		: [];
	return {
		line,
		outcome,
		id: typeof record.id === "string" ? record.id : null,
		name: recordName(kind, record) ?? inFile ?? null,
		changes: Object.fromEntries(changes),
		issues: issues.map(({ field, message }) => {
			const name = /^\w+/.exec(field)?.[0] ?? "";
			return {
				column: headings.get(name) ?? name,
				message,
				unknown_value: (fileLine && askedValue(fileLine, name, asked)) ?? null,
			};
		}),
		same_name: sameName ?? null,
	};
}
