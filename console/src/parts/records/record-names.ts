import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { operationQuery } from "../../queries.ts";

export type Names = ReadonlyMap<string, string | null>;

const NONE: Names = new Map();

/** Loads the names of records in one request, regardless of their number and kinds. */
export function useRecordNames(
	organizationId: string,
	ids: readonly string[],
): Names {
	const wanted = [...new Set(ids)].sort();
	const { data } = useQuery({
		...operationQuery("getRecordNames", {
			organization_id: organizationId,
			ids: wanted,
		}),
		enabled: wanted.length > 0,
		placeholderData: keepPreviousData,
		select: ({ records }): Names =>
			new Map(records.map(({ id, name }) => [id, name])),
	});
	return data ?? NONE;
}

/**
 * Returns the ids of the records that the given records refer to. If `fields` is given, only these
 * fields are read.
 */
export function referencesIn(
	kind: KindDescription,
	records: readonly AnyRecord[],
	fields?: readonly string[],
): string[] {
	return kind.fields
		.filter(({ reference, name }) =>
			reference ? (fields?.includes(name) ?? true) : false,
		)
		.flatMap(({ name }) => records.flatMap((record) => record[name]))
		.filter((id): id is string => typeof id === "string");
}
