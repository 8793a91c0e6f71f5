import { useQuery } from "@tanstack/react-query";
import { operationQuery } from "../../queries.ts";
import type { RegisterKind } from "../../register-kinds.ts";

/**
 * Returns the values that the records of a register have in a field, the most frequent first, once
 * `isWanted` is true.
 */
export function useValuesInUse(
	organizationId: string,
	kind: RegisterKind,
	field: string,
	isWanted: boolean,
) {
	const used = useQuery({
		...operationQuery("countRecords", {
			organization_id: organizationId,
			kind,
			group_by: field,
		}),
		enabled: isWanted,
	});
	const values = (used.data?.groups ?? []).flatMap(({ value, count }) =>
		value ? [{ value, count }] : [],
	);
	return { values, isPending: used.isPending, isError: used.isError };
}
