import { Alert, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { describeKind } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { formatDay, lastMomentOf, todayHere } from "../../parts/days.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState, NotFoundPage } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { recordsQuery } from "../../parts/records/register-calls.ts";
import { formatTime } from "../../parts/time-formats.ts";
import { firstDayOf, NOW, usePast } from "../../past.ts";
import { operationQuery } from "../../queries.ts";
import { BeforeFirstDay } from "../../shell/before-first-day.tsx";
import { ApplicabilityApproval } from "./applicability-approval.tsx";
import { BoardSummary } from "./board/board-summary.tsx";
import { comparedText } from "./board/compared-text.ts";
import { DEFAULT_PERIOD } from "./board/periods.ts";
import {
	CUT,
	isLying,
	MAX_FILE_ROWS,
	MAX_ROWS,
	type Report,
} from "./report.ts";
import { ReportActions } from "./report-actions.tsx";
import { Choices } from "./report-choices.tsx";
import { makeSource } from "./report-source.ts";
import { Table } from "./report-table.tsx";
import { findReport } from "./reports.ts";

const FROM = "/signed-in/o/$org/reports/$report";

/** Shows a report, which can be printed and saved as CSV. The address keeps its choices. */
export function Page() {
	const { report: name } = useParams({ from: FROM });
	const definition = findReport(name);
	return definition ? (
		<OneReport key={name} name={name} definition={definition} />
	) : (
		<NotFoundPage />
	);
}

function OneReport({
	name,
	definition,
}: {
	name: string;
	definition: NonNullable<ReturnType<typeof findReport>>;
}) {
	const { organization, organizationId } = useOrganization();
	const search = useSearch({ from: FROM });
	const today = todayHere();
	const isStatement = definition.hasFramework === true;
	const version = isStatement ? search.version : undefined;
	// An approved version is the same on each day.
	const hasDay = definition.showsPast !== undefined && version === undefined;
	// A link from a page of a past day leads to the report of that day.
	const { day: pastDay } = usePast();
	const wanted = search.day ?? pastDay;
	const day = hasDay && wanted && wanted < today ? wanted : today;
	// Today is not over, so it is read as it is now.
	const asOf = day < today ? lastMomentOf(day) : undefined;
	const first = firstDayOf(organization, definition.showsPast);
	const isTooEarly = day < today && day < first;
	const { frameworks, unread } = useFrameworks(
		isStatement && !isTooEarly,
		asOf,
	);
	const { inUse, isFound } = useFrameworkInUse(
		search.framework ? undefined : frameworks,
		asOf,
	);
	const framework = search.framework ?? inUse;
	const period = search.period ?? DEFAULT_PERIOD;
	const navigate = useNavigate();
	const isFromReplica = search.from === "replica";
	const sources = useQuery(operationQuery("listReportSources", {}));
	const hasReplica = sources.data?.sources.includes("replica") || isFromReplica;
	const read = async (maxRows: number): Promise<Report> => {
		const source = makeSource(isFromReplica);
		const read = await definition.read({
			source,
			organizationId,
			asOf,
			framework,
			version,
			period,
			maxRows,
		});
		return { ...read, replicaMoment: source.moment() };
	};
	const report = useQuery({
		queryKey: [
			"report",
			name,
			organizationId,
			day,
			framework,
			version,
			period,
			isFromReplica,
		],
		queryFn: () => read(MAX_ROWS),
		enabled:
			!isTooEarly && (!isStatement || (frameworks !== undefined && isFound)),
	});
	const { data } = report;
	const tables = data?.pageTables ?? data?.tables ?? [];
	const isWide = data?.board === undefined && isLying(tables);
	/** Says which day or version a report is about, and where it was read. */
	const aboutOf = (moment: string | undefined) =>
		[
			version
				? `version ${version}`
				: asOf
					? // Today has no end yet.
						`as of ${day < today ? "the end of " : ""}${formatDay(day)}`
					: formatDay(day),
			moment &&
				`read from the replica, which had all changes up to ${formatTime(moment)}`,
		]
			.filter(Boolean)
			.join(", ");
	return (
		<>
			<Text size="sm" mb={4} component="nav" aria-label="Where you are">
				<TextLink to="/o/$org/reports" params={{ org: organizationId }} inherit>
					Reports
				</TextLink>
			</Text>
			<PageHeader
				title={definition.title}
				description={[
					organization.name,
					data?.subject,
					aboutOf(data?.replicaMoment),
					data?.board && comparedText(data.board),
				]
					.filter(Boolean)
					.join(", ")}
				actions={
					data &&
					data.tables.length > 0 && (
						<ReportActions
							report={data}
							readForFile={() => read(MAX_FILE_ROWS)}
							title={definition.title}
							fileName={`${name}-${version ? `v${version}` : day}`}
							aboutOf={aboutOf}
						/>
					)
				}
			/>
			{pastDay && !definition.showsPast && (
				<Alert color="yellow" variant="outline" mb="lg" className="not-printed">
					This report cannot show {formatDay(pastDay)}. It shows the present.
				</Alert>
			)}
			<Choices
				day={hasDay ? day : undefined}
				first={first}
				today={today}
				frameworks={definition.hasFramework ? (frameworks ?? []) : undefined}
				framework={framework}
				period={definition.hasPeriod && period}
				isFromReplica={hasReplica ? isFromReplica : undefined}
			/>
			{isStatement && framework && day === today && (
				<ApplicabilityApproval
					framework={framework}
					version={version}
					onVersion={(chosen) => {
						const { version: _, ...others } = search;
						navigate({
							to: "/o/$org/reports/$report",
							params: { org: organizationId, report: name },
							search: chosen ? { ...others, version: chosen } : others,
							replace: true,
							resetScroll: false,
						});
					}}
				/>
			)}
			{isTooEarly ? (
				<BeforeFirstDay
					day={day}
					first={first}
					toDay={(to) => (to ? { day: to } : { day: to, as_of: NOW })}
				/>
			) : unread ? (
				<ErrorState error={unread.error} onRetry={unread.refetch} />
			) : report.isError ? (
				<ErrorState error={report.error} onRetry={report.refetch} />
			) : !data ? (
				<RowsSkeleton rows={8} />
			) : data.tables.length === 0 ? (
				<EmptyState title="There is no framework yet">
					A statement of applicability is about the controls of a framework.
				</EmptyState>
			) : (
				<Stack gap="lg" data-lying={isWide || undefined}>
					{data.isCut && (
						<Alert color="orange" variant="outline">
							{CUT}
						</Alert>
					)}
					{data.board ? (
						<BoardSummary board={data.board} />
					) : (
						tables.map((table) => <Table key={table.title} table={table} />)
					)}
				</Stack>
			)}
		</>
	);
}

/** Reads the frameworks of a moment, because one of them may be deleted by now. */
function useFrameworks(isWanted: boolean, asOf: string | undefined) {
	const { organizationId } = useOrganization();
	const read = useQuery({
		...recordsQuery(describeKind("framework"), {
			organization_id: organizationId,
			size: MAX_PAGE_SIZE,
			order_by: { field: "name" },
			as_of: asOf,
		}),
		enabled: isWanted,
	});
	return {
		frameworks: read.data?.records.map(({ id, name, version }) => ({
			id,
			name: String(name),
			version: typeof version === "string" ? version : null,
		})),
		/** The query, if the frameworks of that moment cannot be read. */
		unread: read.isError ? read : undefined,
	};
}

/**
 * Returns the framework that a report opens with if the address names none: the one with the most
 * controls that are covered at least partly, then the one with the most controls that apply, then
 * the first.
 */
function useFrameworkInUse(
	frameworks: { id: string }[] | undefined,
	asOf: string | undefined,
) {
	const { organizationId } = useOrganization();
	const read = useQuery({
		...operationQuery("getCoverages", {
			organization_id: organizationId,
			framework_ids: frameworks?.map(({ id }) => id),
			as_of: asOf,
		}),
		enabled: frameworks !== undefined && frameworks.length > 1,
	});
	const coverage = new Map(
		read.data?.coverage.map((one) => [one.framework_id, one]),
	);
	const begun = (one?: { covered: number; partly_covered: number }) =>
		one ? one.covered + one.partly_covered : 0;
	const [first] = (frameworks ?? []).toSorted((a, b) => {
		const [one, other] = [coverage.get(a.id), coverage.get(b.id)];
		return (
			begun(other) - begun(one) || (other?.included ?? 0) - (one?.included ?? 0)
		);
	});
	// Without the counts, the first one is as good as any.
	return { inUse: first?.id, isFound: !read.isLoading };
}
