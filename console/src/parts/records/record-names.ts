import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createContext, useMemo } from "react";
import { MAX_NAMED } from "../../../../src/records/max-named.ts";
import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import { operationQuery } from "../../queries.ts";

/** The names of records by their ids. Null: a record without a name. */
export interface Names extends ReadonlyMap<string, string | null> {
	/** True once all names have arrived. An id without a name is then that of a deleted record. */
	isComplete?: boolean;
}

/** The names of the records that the list around a cell refers to. See names-in-list.tsx. */
export const NamesOfList = createContext<Names>(new Map());

/** Loads the names of records in one request, regardless of their number and kinds. */
export function useRecordNames(
	organizationId: string,
	ids: readonly string[],
): Names {
	const wanted = [...new Set(ids)].slice(0, MAX_NAMED).sort();
	const { data, isPlaceholderData } = useQuery({
		...operationQuery("getRecordNames", {
			organization_id: organizationId,
			ids: wanted,
		}),
		enabled: wanted.length > 0,
		placeholderData: keepPreviousData,
	});
	return useMemo(() => {
		const names = data?.records.map(({ id, name }) => [id, name] as const);
		const isComplete = data !== undefined && !isPlaceholderData;
		return Object.assign(new Map(names), { isComplete });
	}, [data, isPlaceholderData]);
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
