import { MAX_NAMED } from "../../../../src/records/max-named.ts";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { type AnyRecord, describeKind } from "../../kinds.ts";
import { inWords } from "../../parts/names-in-words.ts";
import {
	type RecordsPage,
	readRecords,
} from "../../parts/records/register-calls.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { NOTHING, type ReportInput } from "./report.ts";

/**
 * Reads the list of a register page by page, at most as many records as the report may have. `isCut`
 * says that there are more.
 */
export async function readAll(
	{ source, maxRows: limit }: ReportInput,
	kind: RegisterKind,
	input: Record<string, unknown>,
): Promise<{ records: AnyRecord[]; isCut: boolean }> {
	const description = describeKind(kind);
	const records: AnyRecord[] = [];
	let cursor: string | null = null;
	do {
		const page: RecordsPage = await readRecords(
			description,
			{
				...input,
				detail: "full",
				size: Math.min(MAX_PAGE_SIZE, limit),
				cursor,
			},
			undefined,
			source.call,
		);
		records.push(...page.records);
		cursor = page.next_cursor;
	} while (cursor !== null && records.length < limit);
	return { records: records.slice(0, limit), isCut: cursor !== null };
}

/** Returns the names at a moment of the records that a field names, by their ids. */
export async function readNames(
	{ organizationId, asOf, source }: ReportInput,
	records: readonly AnyRecord[],
	field: string,
): Promise<ReadonlyMap<unknown, string>> {
	const named = records.map((record) => record[field]);
	const wanted = [...new Set(named.filter((id) => typeof id === "string"))];
	const names = new Map<unknown, string>();
	for (let at = 0; at < wanted.length; at += MAX_NAMED) {
		const { records } = await source.call("getRecordNames", {
			organization_id: organizationId,
			ids: wanted.slice(at, at + MAX_NAMED),
			as_of: asOf,
		});
		for (const { id, name } of records) if (name) names.set(id, name);
	}
	return names;
}

/** Returns the value of a field as a cell shows it. */
export function cell(value: unknown): string | number {
	if (typeof value === "number") return value;
	return typeof value === "string" && value !== "" ? value : NOTHING;
}

/** Returns measures with their states in words. */
export const measuresInWords = (
	measures: readonly { name: string; state: string }[],
) =>
	measures
		.map(({ name, state }) => `${name} (${inWords(state).toLowerCase()})`)
		.join("; ") || NOTHING;

/** Returns texts as the lines of one cell. Leaves out what a record does not have. */
export const linesOf = (...texts: (string | number)[]) =>
	texts.filter((text) => text !== NOTHING).join("\n") || NOTHING;
