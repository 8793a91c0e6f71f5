import { Group, Progress, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { percentOf } from "../../../../src/units.ts";
import type { KindDescription } from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import type { Column } from "../../parts/data-table.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { operationQuery } from "../../queries.ts";

/** The id of the column. */
export const COVERAGE = "coverage";

/** Adds the column to those of the list of frameworks, after the name and the version. */
export function withCoverage(
	{ kind }: KindDescription,
	columns: readonly string[],
): readonly string[] {
	return kind === "framework" ? columns.toSpliced(2, 0, COVERAGE) : columns;
}

/**
 * Returns the column of the list of frameworks that says how many controls implemented measures
 * cover. Other lists never show it.
 */
export function useCoverage(
	organizationId: string,
	rows: readonly AnyRecord[],
	columns: readonly string[],
): Column<AnyRecord> {
	const { data } = useQuery({
		...operationQuery("getCoverages", {
			organization_id: organizationId,
			framework_ids: rows.map(({ id }) => id),
		}),
		enabled: columns.includes(COVERAGE) && rows.length > 0,
	});
	return useMemo(
		() => ({
			id: COVERAGE,
			header: "Coverage",
			cell: ({ id }) => {
				const found = data?.coverage.find(
					({ framework_id }) => framework_id === id,
				);
				return found ? <Coverage {...found} /> : null;
			},
		}),
		[data],
	);
}

function Coverage({
	included,
	covered,
}: {
	included: number;
	covered: number;
}) {
	if (included === 0) {
		return (
			<Text size="sm" c="dimmed">
				No controls
			</Text>
		);
	}
	const percent = percentOf(covered, included) ?? 0;
	return (
		<Group gap="xs" wrap="nowrap">
			<Progress
				value={percent}
				color="green.7"
				size={6}
				w={72}
				aria-hidden
				visibleFrom="sm"
			/>
			<Text
				size="sm"
				className="figures"
				style={{ whiteSpace: "nowrap" }}
				title={ROUNDED}
			>
				{percentInWords(percent)} ({covered.toLocaleString()} of{" "}
				{included.toLocaleString()})
			</Text>
		</Group>
	);
}
