import { Group, Text } from "@mantine/core";
import type { KindDescription } from "../../../kind-description.ts";
import type { AnyRecord, RecordOf } from "../../../kinds.ts";
import type { Column } from "../../../parts/data-table.tsx";
import { StatusBadge } from "../../../parts/status-badge.tsx";
import { STATUSES } from "./statuses.ts";

/** The versions of a document. A past day does not have them. */
type Row = Partial<
	Pick<RecordOf<"document">, "published_version" | "open_version">
>;

/** The id of the column. */
export const VERSIONS = "versions";

/** Adds the column to those of the list of documents, after the title. */
export function withVersions(
	{ kind }: KindDescription,
	columns: readonly string[],
): readonly string[] {
	return kind === "document" ? columns.toSpliced(1, 0, VERSIONS) : columns;
}

/** Shows the version of a document that is in force and the one that is open. */
export const versionsColumn: Column<AnyRecord> = {
	id: VERSIONS,
	header: "Versions",
	cell: (record) => <Versions {...(record as AnyRecord & Row)} />,
};

function Versions({ published_version: published, open_version: open }: Row) {
	if (published === undefined || open === undefined) return null;
	if (published === null && open === null) {
		return (
			<Text inherit span c="dimmed">
				No text
			</Text>
		);
	}
	return (
		<Group gap={4}>
			{published !== null && <State number={published} status="PUBLISHED" />}
			{open && <State number={open.version_number} status={open.status} />}
		</Group>
	);
}

function State({
	number,
	status,
}: {
	number: number;
	status: keyof typeof STATUSES;
}) {
	const { label, tone } = STATUSES[status];
	return <StatusBadge tone={tone} label={`${number}: ${label}`} />;
}
