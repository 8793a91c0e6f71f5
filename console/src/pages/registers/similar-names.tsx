import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { operationQuery } from "../../queries.ts";

/** Links to records with similar names, for a list in which nothing has the typed words. */
export function SimilarNames({
	organizationId,
	kind,
	query,
}: {
	organizationId: string;
	kind: string;
	query: string;
}) {
	const found = useQuery(
		operationQuery("searchRecords", {
			organization_id: organizationId,
			kinds: [kind],
			query,
		}),
	);
	const similar = found.data?.only_similar ?? [];
	if (similar.length === 0) return null;
	return (
		<Stack gap={4} mt="xs" component="section" aria-label="Similar names">
			<Text c="dimmed">Did you mean:</Text>
			{similar.map(({ id, name }) => (
				<RecordLink
					key={id}
					organizationId={organizationId}
					kind={kind}
					id={id}
				>
					{name}
				</RecordLink>
			))}
		</Stack>
	);
}
