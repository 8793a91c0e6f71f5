import { Box, Button, Group, Text } from "@mantine/core";
import { lazy, Suspense, useEffect, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { SkipButton } from "../first-steps/skip-button.tsx";
import { SkippedWord, StepMark } from "../first-steps/step-mark.tsx";
import {
	type Held,
	isLeftOut,
	isOver,
	progressOf,
	type Step,
	useFirstSteps,
} from "../first-steps/use-first-steps.ts";
import { isHidden, rememberHidden } from "./hidden-lists.ts";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

// The first page does not load them, because readers hide them after a while.
const LazyNextSteps = lazy(() => import("./next-steps.tsx"));
const LazyIncompleteRecords = lazy(() => import("./incomplete-records.tsx"));

/**
 * Says what comes next: how to begin, or in an organization with records, which of them wait for
 * somebody.
 */
export function NextSteps(held: Held) {
	return (
		<Suspense>
			{held.hasRecords ? (
				<LazyIncompleteRecords hasDevices={held.hasDevices} />
			) : (
				<LazyNextSteps {...held} />
			)}
		</Suspense>
	);
}

/**
 * Shows the first steps of a new organization. When all steps are done or left out, or when the
 * reader hides the list, what comes next takes its place, and the list sends no more requests.
 */
export function FirstSteps(held: Held) {
	const { organizationId } = useOrganization();
	const [isGone, setIsGone] = useState(() =>
		isHidden("first-steps", organizationId),
	);
	if (isGone) return <NextSteps {...held} />;
	return (
		<Steps
			{...held}
			onOver={(goes) => {
				rememberHidden("first-steps", organizationId);
				if (goes) setIsGone(true);
			}}
		/>
	);
}

function Steps({
	onOver,
	...held
}: Held & {
	/**
	 * Called when the list is over. With `goes`, the list disappears immediately instead of when the
	 * page is opened again.
	 */
	onOver: (goes: boolean) => void;
}) {
	const steps = useFirstSteps(held);
	const isAllOver = steps?.every(isOver) ?? false;
	// biome-ignore lint/correctness/useExhaustiveDependencies: called only when the state changes.
	useEffect(() => {
		if (isAllOver) onOver(false);
	}, [isAllOver]);
	if (!steps) return null;
	if (isAllOver) return <NextSteps {...held} />;
	return (
		<>
			<StepList steps={steps} onHide={() => onOver(true)} />
			{held.hasRecords && (
				<Suspense>
					<LazyIncompleteRecords />
				</Suspense>
			)}
		</>
	);
}

function StepList({ steps, onHide }: { steps: Step[]; onHide: () => void }) {
	return (
		<Section
			title="First steps"
			more={
				<Group gap="xs">
					<PlainText size="sm" c="dimmed">
						{progressOf(steps)}
					</PlainText>
					<Button size="compact-sm" variant="subtle" onClick={onHide}>
						Hide
					</Button>
				</Group>
			}
		>
			<ol className={styles.rows}>
				{steps.map((step) => (
					<li key={step.key} className={styles.row}>
						<StepRow step={step} />
					</li>
				))}
			</ol>
		</Section>
	);
}

const ACTIONS: Record<Step["key"], string> = {
	RECORDS: "Choose",
	DEVICE: "Install",
	PEOPLE: "Invite",
	API_TOKEN: "Create",
};

function StepRow({ step }: { step: Step }) {
	const { organizationId: org } = useOrganization();
	return (
		<Group gap="sm" align="flex-start">
			<StepMark {...step} />
			<Box flex="1 1 240px">
				<Text fw={500} td={step.isDone ? "line-through" : undefined}>
					{step.title} {isLeftOut(step) && <SkippedWord />}
				</Text>
				<PlainText size="sm" c="dimmed">
					{step.why}
				</PlainText>
			</Box>
			{isLeftOut(step) && <SkipButton step={step} size="xs" />}
			{!isOver(step) && (
				<ButtonLink
					to="/o/$org/first-steps"
					params={{ org }}
					search={{ step: step.key }}
					size="xs"
					variant="default"
					aria-label={`${ACTIONS[step.key]}: ${step.title}`}
				>
					{ACTIONS[step.key]}
				</ButtonLink>
			)}
		</Group>
	);
}
