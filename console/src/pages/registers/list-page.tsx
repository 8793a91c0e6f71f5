import { Group } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import type { OperationName } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import {
	type AnyRecord,
	fieldOf,
	fullTitleOf,
	noneYet,
	titleOf,
} from "../../kinds.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { shownColumns } from "../../parts/column-menu.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ButtonLink, MenuLink, TextLink } from "../../parts/links.tsx";
import { ListPage } from "../../parts/list-page.tsx";
import { ExportButton } from "../../parts/records/export-button.tsx";
import {
	MAX_CELL,
	Questioned,
	ShortValue,
} from "../../parts/records/field-value.tsx";
import { NamesInList } from "../../parts/records/names-in-list.tsx";
import { referencesIn } from "../../parts/records/record-names.ts";
import {
	readRecords,
	recordsQuery,
} from "../../parts/records/register-calls.ts";
import { factorsOf } from "../../parts/records/risk-scores.ts";
import { shownValue } from "../../parts/records/undecided.ts";
import { useKind } from "../../parts/records/use-kind.ts";
import type { REPORT_TITLES } from "../../parts/report-titles.ts";
import { useSelection } from "../../parts/selection.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { dayShown } from "../../past.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import { isMeaningful, layoutOf, usualOrder } from "../../register-layouts.ts";
import { BulkActions } from "./bulk-actions.tsx";
import {
	VERSIONS,
	versionsColumn,
	withVersions,
} from "./documents/version-column.tsx";
import { EditableCell } from "./editable-cell.tsx";
import { QUICK_TYPES } from "./form-values.ts";
import {
	COVERAGE,
	useCoverage,
	withCoverage,
} from "./framework-coverage-column.tsx";
import { hintsOf } from "./hints.ts";
import { ListFilters } from "./list-filters.tsx";
import { SimilarNames } from "./similar-names.tsx";

/** The columns that show no field. */
const OTHER_COLUMNS: Record<string, string> = {
	[COVERAGE]: "Coverage",
	[VERSIONS]: "Versions",
	updated_at: "Updated",
};

/** The reports that have the records of a list as PDF and Excel. The list itself exports CSV only. */
const REPORTS: Partial<Record<string, keyof typeof REPORT_TITLES>> = {
	risk: "risk-register",
	nonconformity: "nonconformities",
};

/**
 * Lists the records of a register, with search, filters, saved views, CSV export, and the text of
 * an empty list.
 */
export function Page() {
	const kind = useKind();
	// Each kind has its own list component, so that records of one kind are never shown while those
	// of another load.
	return <Register key={kind.kind} kind={kind} />;
}

function Register({ kind }: { kind: KindDescription }) {
	const { organizationId, mayWrite } = useOrganization();
	const list = useListSearch((filters) => usualOrder(kind, filters));
	const input = { organization_id: organizationId, ...list.input };
	const page = useQuery({
		...recordsQuery(kind, input),
		placeholderData: keepPreviousData,
	});
	const rows = page.data?.records ?? [];
	const usual = withVersions(
		kind,
		withCoverage(kind, layoutOf(kind.kind).columns),
	);
	const possible = [
		...usual,
		...kind.fields.map(({ name }) => name),
		"updated_at",
	]
		.filter((name, at, all) => all.indexOf(name) === at)
		.map((id) => ({
			id,
			label: fieldOf(kind, id)?.label ?? OTHER_COLUMNS[id] ?? id,
		}));
	const columns = shownColumns(list, possible, usual);
	const shown = columns.join();
	const day = dayShown();
	const coverage = useCoverage(organizationId, rows, columns);
	// The same columns as before, so that rows which did not change need not render again.
	// biome-ignore lint/correctness/useExhaustiveDependencies: cells say what is overdue on the day.
	const cells = useMemo(
		() =>
			shown
				.split(",")
				.map((name) =>
					name === COVERAGE
						? coverage
						: name === VERSIONS
							? versionsColumn
							: columnOf(kind, name, organizationId, mayWrite),
				),
		[shown, coverage, kind, organizationId, mayWrite, day],
	);
	const label = findRegisterKind(kind.kind)?.label ?? kind.nouns;
	const add = <AddLink kind={kind} organizationId={organizationId} />;
	const { cursor: _, size: __, ...filtered } = input;
	const selection = useSelection<AnyRecord>(
		JSON.stringify(list.input.filter ?? {}),
		(record) => titleOf(kind, record),
	);

	const importLink = (
		<MenuLink
			to="/o/$org/r/$kind/import"
			params={{ org: organizationId, kind: kind.kind }}
		>
			Import
		</MenuLink>
	);
	const matrixLink = kind.kind === "risk" && (
		<MenuLink to="/o/$org/r/risk/matrix" params={{ org: organizationId }}>
			Matrix
		</MenuLink>
	);
	const report = REPORTS[kind.kind];
	const reportLink = report && (
		<MenuLink
			to="/o/$org/reports/$report"
			params={{ org: organizationId, report }}
		>
			Report as PDF or Excel
		</MenuLink>
	);
	const content = (
		<ListPage
			kind={kind.kind}
			list={list}
			title={label}
			nouns={kind.nouns}
			page={page}
			rows={rows}
			columns={cells}
			possible={possible}
			selection={mayWrite ? selection : undefined}
			description={kind.help}
			exportButton={
				<ExportButton
					operation={`list${kind.tool.many}` as OperationName}
					input={filtered}
				/>
			}
			more={
				(mayWrite || matrixLink || reportLink) && (
					<>
						{mayWrite && importLink}
						{matrixLink}
						{reportLink}
					</>
				)
			}
			add={mayWrite && add}
			filters={
				<ListFilters kind={kind} list={list} organizationId={organizationId} />
			}
			bulk={
				<BulkActions
					kind={kind}
					organizationId={organizationId}
					selection={selection}
					matching={
						page.data && {
							total: page.data.total,
							isExact: page.data.total_is_exact,
							shown: rows,
							read: async (cursor) => {
								const { filter } = list.input;
								const found = await readRecords(kind, {
									organization_id: organizationId,
									...(filter && { filter }),
									...(cursor && { cursor }),
									size: MAX_PAGE_SIZE,
								});
								return { ...found, rows: found.records };
							},
						}
					}
				/>
			}
			similar={
				list.search.q && (
					<SimilarNames
						organizationId={organizationId}
						kind={kind.kind}
						query={list.search.q}
					/>
				)
			}
			nothing={
				<Nothing
					kind={kind}
					actions={
						mayWrite && (
							<>
								<ButtonLink
									variant="default"
									to="/o/$org/r/$kind/import"
									params={{ org: organizationId, kind: kind.kind }}
								>
									Import a file
								</ButtonLink>
								{add}
							</>
						)
					}
				/>
			}
		/>
	);
	return (
		<NamesInList
			organizationId={organizationId}
			ids={referencesIn(kind, rows, columns)}
		>
			{content}
		</NamesInList>
	);
}

function columnOf(
	kind: KindDescription,
	name: string,
	organizationId: string,
	mayWrite: boolean,
): Column<AnyRecord> {
	const field = fieldOf(kind, name);
	const common = {
		id: name,
		header: field?.label.replace(/ score$/, "") ?? "Updated",
		...(kind.orders.includes(name) ? { sort: name } : {}),
		// The first click shows the highest scores or the latest changes, because people look for
		// those.
		...(factorsOf(name) || !field ? { firstDirection: "desc" as const } : {}),
	};
	if (name === layoutOf(kind.kind).columns[0]) {
		return {
			...common,
			cell: (record) => (
				<TextLink
					className="data-table-link"
					to="/o/$org/r/$kind/$id"
					params={{ org: organizationId, kind: kind.kind, id: record.id }}
					inherit
					fw={500}
					lineClamp={3}
					title={fullTitleOf(kind, record)}
					maw={MAX_CELL}
				>
					{titleOf(kind, record)}
				</TextLink>
			),
		};
	}
	if (!field) {
		return {
			...common,
			cell: (record) => <RelativeTime value={record.updated_at} />,
		};
	}
	const isQuick =
		mayWrite && QUICK_TYPES.has(field.type) && field.given !== "computed";
	return {
		...common,
		cell: (record) => {
			const value = (
				<Questioned
					hint={hintsOf(kind.kind, record).find((hint) => hint.field === name)}
				>
					<ShortValue
						field={field}
						value={isMeaningful(name, record) ? shownValue(record, name) : null}
					/>
				</Questioned>
			);
			return isQuick ? (
				<EditableCell kind={kind} field={field} record={record}>
					{value}
				</EditableCell>
			) : (
				value
			);
		},
	};
}

function AddLink({
	kind,
	organizationId,
}: {
	kind: KindDescription;
	organizationId: string;
}) {
	return (
		<ButtonLink
			to="/o/$org/r/$kind/new"
			params={{ org: organizationId, kind: kind.kind }}
			leftSection={<IconPlus size={16} aria-hidden />}
		>
			New {kind.noun}
		</ButtonLink>
	);
}

function Nothing({
	kind,
	actions,
}: {
	kind: KindDescription;
	actions: React.ReactNode;
}) {
	return (
		<EmptyState
			title={noneYet(kind)}
			actions={actions && <Group>{actions}</Group>}
		>
			{actions
				? "Add the first one here, or import many from a file."
				: "A member of the organization can add them."}
		</EmptyState>
	);
}
