import { Box, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { useOrganization } from "../../organization.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { operationQuery } from "../../queries.ts";
import { AgentStep } from "./agent-step.tsx";
import styles from "./first-steps.module.css";
import { PeopleStep } from "./people-step.tsx";
import { RecordsStep } from "./records-step.tsx";
import { SkipButton } from "./skip-button.tsx";
import { SkippedWord, StepMark } from "./step-mark.tsx";
import { TokenStep } from "./token-step.tsx";
import {
	type Held,
	isLeftOut,
	isOver,
	progressOf,
	type Step,
	type StepKey,
	useFirstSteps,
} from "./use-first-steps.ts";

/** How often the page looks whether the first device is active. */
const EVERY_MS = 5_000;

/**
 * Leads a new organization to its first results. The address keeps the step. What is done is read
 * from the organization, so the page can be left and opened again.
 */
export function Page() {
	const { organizationId } = useOrganization();
	const input = { organization_id: organizationId };
	const overview = useQuery(operationQuery("getOverview", input));
	const summary = useQuery({
		...operationQuery("listPostureSummary", input),
		refetchInterval: EVERY_MS,
	});
	const failed = [overview, summary].find(({ isError }) => isError);
	return (
		<>
			<PageHeader
				title="First steps"
				description="Four steps to a first result. Do them in any order, and leave out what you do not need."
				actions={
					<ButtonLink
						to="/o/$org"
						params={{ org: organizationId }}
						variant="default"
					>
						Go to Home
					</ButtonLink>
				}
			/>
			{failed ? (
				<ErrorState
					error={failed.error}
					onRetry={() => Promise.all([overview.refetch(), summary.refetch()])}
				/>
			) : !overview.data || !summary.data ? (
				<RowsSkeleton rows={8} />
			) : (
				<Steps
					hasDevices={summary.data.devices_by_status.ACTIVE > 0}
					hasRecords={
						overview.data.coverage.length > 0 ||
						overview.data.risks.inherent.length > 0
					}
				/>
			)}
		</>
	);
}

function Steps(held: Held) {
	const steps = useFirstSteps(held);
	const { step: wanted } = useSearch({ from: "/signed-in/o/$org/first-steps" });
	const { organizationId: org } = useOrganization();
	const navigate = useNavigate();
	const shown =
		steps?.find(({ key }) => key === wanted) ??
		steps?.find((step) => !isOver(step)) ??
		steps?.[0];
	const key = shown?.key;
	// Without this, the page would turn to the next step while the reader looks at the result.
	useEffect(() => {
		if (key === undefined || key === wanted) return;
		void navigate({
			to: "/o/$org/first-steps",
			params: { org },
			search: { step: key },
			replace: true,
		});
	}, [key, wanted, org, navigate]);
	if (!steps || !shown) return <RowsSkeleton rows={8} />;
	const at = steps.indexOf(shown);
	return (
		<div className={styles.page}>
			<StepList steps={steps} shown={shown} />
			<Paper
				withBorder
				p="md"
				component="section"
				aria-label={shown.title}
				miw={0}
			>
				<Title order={2} mb={4}>
					{shown.title}
				</Title>
				<Text size="sm" c="dimmed" mb="md">
					{shown.why}
				</Text>
				<Content shown={shown} next={steps[at + 1]} />
			</Paper>
		</div>
	);
}

function StepList({ steps, shown }: { steps: Step[]; shown: Step }) {
	const { organizationId: org } = useOrganization();
	return (
		<nav aria-label="First steps">
			<Text size="sm" c="dimmed" mb="xs">
				{progressOf(steps)}
			</Text>
			<ol className={styles.steps}>
				{steps.map((step) => (
					<li key={step.key}>
						<Group gap="xs" wrap="nowrap">
							<StepMark {...step} />
							<ButtonLink
								to="/o/$org/first-steps"
								params={{ org }}
								search={{ step: step.key }}
								variant={step === shown ? "light" : "subtle"}
								justify="flex-start"
								fullWidth
								size="compact-md"
								aria-current={step === shown ? "step" : undefined}
							>
								{step.title}
							</ButtonLink>
						</Group>
						{isLeftOut(step) && (
							<Box pl={43}>
								<SkippedWord />
							</Box>
						)}
					</li>
				))}
			</ol>
		</nav>
	);
}

function Content({ shown, next }: { shown: Step; next: Step | undefined }) {
	const { organizationId: org } = useOrganization();
	const navigate = useNavigate();
	const goOn = () =>
		next
			? navigate({
					to: "/o/$org/first-steps",
					params: { org },
					search: { step: next.key },
				})
			: navigate({ to: "/o/$org", params: { org } });
	const content: Record<StepKey, () => ReactNode> = {
		RECORDS: () => <RecordsStep isDone={shown.isDone} onDone={goOn} />,
		DEVICE: () => <AgentStep />,
		PEOPLE: () => <PeopleStep isDone={shown.isDone} />,
		API_TOKEN: () => <TokenStep isDone={shown.isDone} />,
	};
	return (
		<Stack>
			{isLeftOut(shown) && (
				<Text size="sm">
					This step is skipped for all administrators. It can still be done.
				</Text>
			)}
			{content[shown.key]()}
			<Group gap="xs">
				{shown.isDone && (
					<Button onClick={goOn}>{next ? "Next step" : "Finish"}</Button>
				)}
				{!shown.isDone && (
					<SkipButton key={shown.key} step={shown} onSkipped={goOn} />
				)}
			</Group>
		</Stack>
	);
}
