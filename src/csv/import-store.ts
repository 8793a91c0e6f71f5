import { AppError, badFields } from "../errors.ts";
import type { Context } from "../operation.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import {
	insertRecord,
	noteStored,
	readRecords,
	updateRecord,
} from "../records/store.ts";
import type { Values } from "../records/values.ts";

/** Number of records that are stored concurrently. Their statements are then sent together. */
const AT_ONCE = 100;

/** A line that adds or changes a record. */
export interface ChangingLine {
	/** Index of the line among the lines of the file. */
	at: number;
	/** Number of the line, for errors. */
	line: number;
	/** The existing record, which is locked. Undefined for a new one. */
	id: string | undefined;
	values: Values;
}

/**
 * Stores every line in the same way as the operations add and update do, and tells the caller the
 * record of each line. Lines with a reference id are stored first. Otherwise a record without one
 * might get the reference id that a later line gives. Records are read again before they change, a
 * few at a time, because all of them together may need too much memory.
 */
export async function storeLines(
	context: Context,
	kind: AnyRecordKind,
	changing: readonly ChangingLine[],
	importId: string,
	stored: (at: number, record: Values) => void,
): Promise<void> {
	const isNumbered = ({ id, values }: ChangingLine) =>
		id !== undefined || Boolean(values.reference_id);
	const [first, then] = [
		changing.filter(isNumbered),
		changing.filter((line) => !isNumbered(line)),
	];
	for (const lines of [first, then]) {
		for (let from = 0; from < lines.length; from += AT_ONCE) {
			const some = lines.slice(from, from + AT_ONCE);
			const records = await storeSome(context, kind, some, importId);
			for (const [n, { at }] of some.entries()) stored(at, records[n] ?? {});
		}
	}
}

/** Stores these lines concurrently, and returns their records in the same order. */
async function storeSome(
	context: Context,
	kind: AnyRecordKind,
	lines: readonly ChangingLine[],
	importId: string,
): Promise<Values[]> {
	const existing = lines.flatMap(({ id }) => id ?? []);
	const rows =
		existing.length === 0
			? []
			: await readRecords(
					context.client,
					kind,
					context.membership.organizationId,
					existing,
				);
	const before = new Map(rows.map((row) => [row.id, row]));
	const noted = await allOf(lines, async ({ id, values }) => {
		if (id === undefined) {
			return { id: await insertRecord(context, kind, values) };
		}
		await updateRecord(context, kind, id, values);
		return { id, before: before.get(id) ?? {} };
	});
	return noteStored(context, kind, noted, importId);
}

/**
 * Stores lines concurrently. If one fails, it still waits for the others, so that none of them
 * writes after the transaction has ended. Throws the first error, because the later errors only say
 * that the transaction has failed.
 */
async function allOf<Stored>(
	lines: readonly ChangingLine[],
	store: (line: ChangingLine) => Promise<Stored>,
): Promise<Stored[]> {
	let failure: { line: number; error: unknown } | undefined;
	const stored = await Promise.all(
		lines.map((changing) =>
			store(changing).catch((error) => {
				failure ??= { line: changing.line, error };
				return undefined;
			}),
		),
	);
	if (!failure) return stored as Stored[];
	const { line, error } = failure;
	if (!(error instanceof AppError) || !error.fields) throw error;
	throw badFields(
		error.fields.map(({ field, message }) => ({
			field: `line ${line}, ${field}`,
			message,
		})),
	);
}
