import { queryOptions } from "@tanstack/react-query";
import { call, type OperationName } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { inPast } from "../../past.ts";
import type { ListedPage } from "../pager.tsx";

export interface RecordsPage extends ListedPage {
	records: AnyRecord[];
}

type Values = Record<string, unknown>;
type Kind = Pick<KindDescription, "tool" | "key">;

/**
 * Returns the query that loads a list of any kind. `input` is the input of the kind's list
 * operation.
 */
export function recordsQuery(kind: Kind, given: Values) {
	const name = `list${kind.tool.many}` as OperationName;
	const input: Values = inPast(name, given as never);
	return queryOptions({
		queryKey: [name, input, "records"],
		queryFn: ({ signal }) => readRecords(kind, input, signal),
	});
}

/** Loads a page of a list of any kind. Another `ask` reads it from elsewhere. */
export async function readRecords(
	{ tool, key }: Kind,
	input: Values,
	signal?: AbortSignal,
	ask = call,
): Promise<RecordsPage> {
	const name = `list${tool.many}` as OperationName;
	const page: Values = await ask(
		name,
		input as never,
		signal ? { signal } : {},
	);
	return {
		records: page[key.many] as AnyRecord[],
		next_cursor: page.next_cursor as string | null,
		total: page.total as number,
		total_is_exact: page.total_is_exact as boolean,
	};
}

export function recordQuery({ tool, key }: Kind, id: string) {
	const name = `get${tool.one}` as OperationName;
	const input = inPast(name, { id } as never);
	return queryOptions({
		queryKey: [name, input, "record"],
		queryFn: async ({ signal }): Promise<AnyRecord> => {
			const { [key.one]: record, ...beside }: Values = await call(name, input, {
				signal,
			});
			// What a tool says beside the record, such as the coverage of a control, is kept with it.
			return { ...beside, ...(record as AnyRecord) };
		},
	});
}

/**
 * Adds a record. Like `updateRecord`, it returns the record as it is after the write, and throws
 * ApiError.
 */
export function addRecord(
	{ tool, key }: Kind,
	organizationId: string,
	values: Values,
): Promise<AnyRecord> {
	return write(`add${tool.one}`, key.one, {
		organization_id: organizationId,
		...values,
	});
}

export function updateRecord(
	{ tool, key }: Kind,
	id: string,
	values: Values,
): Promise<AnyRecord> {
	return write(`update${tool.one}`, key.one, { id, ...values });
}

export function deleteRecord({ tool }: Kind, id: string): Promise<unknown> {
	return call(`delete${tool.one}` as OperationName, { id } as never);
}

async function write(
	name: string,
	key: string,
	input: Values,
): Promise<AnyRecord> {
	const answer: Values = await call(name as OperationName, input as never);
	return answer[key] as AnyRecord;
}
