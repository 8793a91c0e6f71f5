import {
	Box,
	Button,
	Group,
	Paper,
	SegmentedControl,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { OutputOf } from "../../api.ts";
import { useChangeSearch } from "../../change-search.ts";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink, TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { operationQuery } from "../../queries.ts";
import { CheckResults } from "./check-results.tsx";
import { ControlSections } from "./control-sections.tsx";
import styles from "./coverage.module.css";
import { CoverageBar } from "./coverage-bar.tsx";
import {
	type CoverageState,
	type CoveredControl,
	countStates,
	STATES,
	stateOf,
} from "./coverage-states.ts";

type Coverage = OutputOf<"getFrameworkCoverage">;

/** Shows the sections and controls of a framework, with their coverage. */
export function FrameworkCoverage({
	organizationId,
	frameworkId,
}: {
	organizationId: string;
	frameworkId: string;
}) {
	const { mayWrite } = useOrganization();
	const found = useQuery(
		operationQuery("getFrameworkCoverage", { id: frameworkId }),
	);
	const importing = mayWrite && (
		<ButtonLink
			variant="default"
			to="/o/$org/r/$kind/import"
			params={{ org: organizationId, kind: "control" }}
		>
			Import controls
		</ButtonLink>
	);
	const add = mayWrite && (
		<ButtonLink
			variant="default"
			leftSection={<IconPlus size={16} aria-hidden />}
			to="/o/$org/r/$kind/new"
			params={{ org: organizationId, kind: "control" }}
			search={{ framework_id: frameworkId }}
		>
			Add a control
		</ButtonLink>
	);
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={() => found.refetch()} />;
	}
	if (found.isPending) return <RowsSkeleton />;
	if (found.data.controls.length === 0) {
		return (
			<EmptyState
				title="This framework has no controls yet"
				actions={
					mayWrite && (
						<>
							{importing}
							{add}
						</>
					)
				}
			>
				Controls are the requirements of a framework.{" "}
				{mayWrite
					? "Add them one by one, or import them from a file."
					: "A member of the organization can add them."}
			</EmptyState>
		);
	}
	return (
		<>
			<Paper withBorder p="lg" component="section" aria-label="Controls">
				<Group justify="space-between" mb="md">
					<Title order={2}>Controls</Title>
					<Group gap="xs">
						<ButtonLink
							variant="default"
							to="/o/$org/reports/$report"
							params={{
								org: organizationId,
								report: "statement-of-applicability",
							}}
							search={{ framework: frameworkId }}
						>
							Statement of applicability
						</ButtonLink>
						{importing}
						{add}
					</Group>
				</Group>
				<Summary data={found.data} />
				<Controls
					data={found.data}
					organizationId={organizationId}
					frameworkId={frameworkId}
				/>
			</Paper>
			<CheckResults
				checks={found.data.checks.map(({ check_key }) => check_key)}
			>
				The device checks that test controls of this framework.
			</CheckResults>
		</>
	);
}

function Summary({ data: { coverage, controls } }: { data: Coverage }) {
	const { included, covered, partly_covered, coverage_percent } = coverage;
	const counts = countStates(controls);
	return (
		<Stack gap="xs" mb="lg">
			<Text>
				{coverage_percent === null ? (
					"No control applies: all controls are excluded."
				) : (
					<>
						<b>{percentInWords(coverage_percent)}</b>
						{` covered: ${covered} of ${included} ${included === 1 ? "control that applies" : "controls that apply"}`}
						{partly_covered > 0 && `, ${partly_covered} more partly`}
					</>
				)}
			</Text>
			{coverage_percent !== null && (
				<Text size="xs" c="dimmed">
					{ROUNDED}
				</Text>
			)}
			<CoverageBar counts={counts} height={14} />
			<Group
				component="ul"
				gap="lg"
				p={0}
				m={0}
				style={{ listStyle: "none", rowGap: 4 }}
			>
				{(Object.keys(STATES) as CoverageState[]).map((state) => (
					<Group
						key={state}
						component="li"
						gap={6}
						wrap="nowrap"
						title={STATES[state].means}
					>
						<span className={`${styles.swatch} ${styles[state]}`} aria-hidden />
						<Text size="sm">
							{STATES[state].label}{" "}
							<Text span fw={600} inherit>
								{counts[state]}
							</Text>
						</Text>
					</Group>
				))}
			</Group>
		</Stack>
	);
}

const SHOWN = [
	{ value: "all", label: "All" },
	{ value: "uncovered", label: "Not fully covered" },
];

function Controls({
	data: { coverage, controls, checks },
	organizationId,
	frameworkId,
}: {
	data: Coverage;
	organizationId: string;
	frameworkId: string;
}) {
	const { show } = useSearch({ strict: false }) as { show?: string };
	const changeSearch = useChangeSearch();
	const isNarrowed = show === "uncovered";
	const setShown = (value: string) =>
		changeSearch((before) => ({
			...before,
			show: value === "uncovered" ? value : undefined,
		}));
	const isShown = (control: CoveredControl) =>
		!isNarrowed || !["covered", "excluded"].includes(stateOf(control));
	return (
		<>
			<SegmentedControl
				aria-label="Which controls"
				data={SHOWN}
				value={isNarrowed ? "uncovered" : "all"}
				onChange={setShown}
				mb="sm"
			/>
			{!controls.some(isShown) ? (
				<Group>
					<Text c="dimmed">Every control that applies is covered.</Text>
					<Button variant="subtle" onClick={() => setShown("all")}>
						Show all controls
					</Button>
				</Group>
			) : (
				<ControlSections
					// A new key mounts the sections again, so that their folding starts from the default.
					key={isNarrowed ? "uncovered" : "all"}
					controls={controls}
					results={checks}
					isShown={isShown}
					organizationId={organizationId}
				/>
			)}
			{controls.length < coverage.controls && (
				<Box mt="md">
					The first {controls.length} of {coverage.controls} controls are shown.{" "}
					<TextLink
						underline="always"
						to="/o/$org/r/$kind"
						params={{ org: organizationId, kind: "control" }}
						search={{ framework_id: frameworkId }}
					>
						See all in the list of controls
					</TextLink>
				</Box>
			)}
		</>
	);
}
