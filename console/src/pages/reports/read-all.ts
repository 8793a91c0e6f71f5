import { call } from "../../api.ts";
import { type AnyRecord, describeKind } from "../../kinds.ts";
import {
	type RecordsPage,
	recordsQuery,
} from "../../parts/records/register-calls.ts";
import { queryClient } from "../../queries.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { MAX_ROWS, NOTHING, type ReportInput } from "./report.ts";

const PAGE = 100;
const MAX_NAMES = 1000;

/**
 * Reads the list of a register page by page, at most `limit` records. `isCut`
 * says that there are more.
 */
export async function readAll(
	kind: RegisterKind,
	input: Record<string, unknown>,
	limit = MAX_ROWS,
): Promise<{ records: AnyRecord[]; isCut: boolean }> {
	const description = describeKind(kind);
	const records: AnyRecord[] = [];
	let cursor: string | null = null;
	do {
		const page: RecordsPage = await queryClient.fetchQuery(
			recordsQuery(description, {
				...input,
				detail: "full",
				size: Math.min(PAGE, limit),
				cursor,
			}),
		);
		records.push(...page.records);
		cursor = page.next_cursor;
	} while (cursor !== null && records.length < limit);
	return { records: records.slice(0, limit), isCut: cursor !== null };
}

/** Returns the names of the owners of records at a moment, by the ids of the people. */
export async function readOwners(
	{ organizationId, asOf }: ReportInput,
	records: readonly AnyRecord[],
): Promise<ReadonlyMap<unknown, string>> {
	const owners = records.map(({ owner_id: id }) => id);
	const wanted = [...new Set(owners.filter((id) => typeof id === "string"))];
	const names = new Map<unknown, string>();
	for (let at = 0; at < wanted.length; at += MAX_NAMES) {
		const { records } = await call("getRecordNames", {
			organization_id: organizationId,
			ids: wanted.slice(at, at + MAX_NAMES),
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
