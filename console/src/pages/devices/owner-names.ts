import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { operationQuery } from "../../queries.ts";

/** What records are called, by id, in one request however many; one that is gone has no entry. */
export function useRecordNames(
	ids: readonly (string | null | undefined)[],
): ReadonlyMap<string, string> {
	const { organizationId } = useOrganization();
	const wanted = [
		...new Set(ids.filter((id) => typeof id === "string")),
	].sort();
	const { data } = useQuery({
		...operationQuery("getRecordNames", {
			organization_id: organizationId,
			ids: wanted,
		}),
		enabled: wanted.length > 0,
		placeholderData: keepPreviousData,
	});
	return new Map(
		data?.records.flatMap(({ id, name }) =>
			name ? [[id, name] as const] : [],
		),
	);
}
