import { List, Text } from "@mantine/core";
import type { Failure } from "./for-each.ts";

/** The most reasons that are listed, and the most rows that are named for one. */
const MAX_NAMED = 10;

/** Names the rows for which an action failed, by the reason. */
export function FailedRows<Row>({
	failures,
	nameOf,
}: {
	failures: readonly Failure<Row>[];
	nameOf: (row: Row) => string;
}) {
	const reasons = [...Map.groupBy(failures, ({ reason }) => reason)];
	return (
		<>
			<List size="sm">
				{reasons.slice(0, MAX_NAMED).map(([reason, failed]) => (
					<List.Item key={reason}>
						{namesOf(failed.map(({ row }) => nameOf(row)))}: {reason}
					</List.Item>
				))}
			</List>
			{reasons.length > MAX_NAMED && (
				<Text size="sm">
					{(reasons.length - MAX_NAMED).toLocaleString()} more reasons.
				</Text>
			)}
		</>
	);
}

/** Names the first rows and counts the others. */
function namesOf(names: readonly string[]): string {
	const others = names.length - MAX_NAMED;
	const named = names.slice(0, MAX_NAMED).join(", ");
	return others > 0 ? `${named} and ${others.toLocaleString()} more` : named;
}
