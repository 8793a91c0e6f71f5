import { Anchor, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { InputOf } from "../../api.ts";
import type { ListControls } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { operationQuery } from "../../queries.ts";

type Filter = Record<string, unknown>;

/** The filters for which the list shows the entries of an import's records. */
const ASKED = ["import_id", "record_id", "is_imported"];

/**
 * Leaves out the entries of an import's records, because the import has an entry of its own. A
 * reader who asks for them, for one import or for one record sees them.
 */
export function withoutImported(filter: Filter = {}): Filter {
	return isAsked(filter) ? filter : { ...filter, is_imported: false };
}

function isAsked(filter: Filter): boolean {
	return ASKED.some((name) => name in filter);
}

/** Says how many matching entries the list leaves out, because "Verify" and the CSV count them. */
export function LeftOutEntries({ list }: { list: ListControls }) {
	const { organizationId } = useOrganization();
	const { filter = {} } = list.input;
	const { data } = useQuery({
		...operationQuery("listAuditLog", {
			organization_id: organizationId,
			size: 1,
			filter: { ...filter, is_imported: true },
		} as InputOf<"listAuditLog">),
		enabled: !isAsked(filter),
	});
	if (isAsked(filter) || !data?.total) return null;
	const { total, total_is_exact } = data;
	const count = `${total_is_exact ? "" : "more than "}${total.toLocaleString()}`;
	const noun = total === 1 ? "entry" : "entries";
	return (
		<Text size="sm" c="dimmed" mt="xs">
			This list leaves out {count} {noun} about single records of imports,
			because each import has an entry of its own. “Verify” and the CSV count
			them.{" "}
			<Anchor
				component="button"
				type="button"
				size="sm"
				onClick={() => list.setFilter("is_imported", true)}
			>
				Show {total === 1 ? "it" : "them"}
			</Anchor>
		</Text>
	);
}
