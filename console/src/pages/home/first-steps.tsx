import { Box, Button, Group, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconCircleDashed } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { operationQuery } from "../../queries.ts";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

interface Step {
	title: string;
	why: string;
	isDone: boolean;
	action: ReactNode;
}

interface Held {
	hasDevices: boolean;
	hasRisks: boolean;
}

/**
 * Shows the first steps of a new organization. A step is ticked when the organization has what the
 * step asks for. When all steps are done or the reader hides the list, the list disappears and
 * sends no more requests.
 */
export function FirstSteps(held: Held) {
	const { organizationId } = useOrganization();
	const [isOver, setIsOver] = useState(() => wasOver(organizationId));
	if (isOver) return null;
	return (
		<Steps
			{...held}
			onOver={(goes) => {
				rememberOver(organizationId);
				if (goes) setIsOver(true);
			}}
		/>
	);
}

function Steps({
	hasDevices,
	hasRisks,
	onOver,
}: Held & {
	/**
	 * Called when the list is over. With `goes`, the list disappears immediately instead of when the
	 * page is opened again.
	 */
	onOver: (goes: boolean) => void;
}) {
	const { organizationId: org, mayWrite, mayAdmin } = useOrganization();
	const organization_id = org;
	const tokens = useQuery(operationQuery("listApiTokens", {}));
	const members = useQuery(
		operationQuery("listMembers", { organization_id, size: 2 }),
	);
	const invitations = useQuery({
		...operationQuery("listInvitations", { organization_id }),
		enabled: mayAdmin,
	});
	const steps: Step[] = [
		...(mayAdmin
			? [
					{
						title: "Add a device",
						why: "Its agent reports whether the disk is encrypted, the screen locks and more.",
						isDone: hasDevices,
						action: (
							<ButtonLink
								to="/o/$org/devices/new"
								params={{ org }}
								size="xs"
								variant="default"
							>
								Add device
							</ButtonLink>
						),
					},
				]
			: []),
		...(mayWrite
			? [
					{
						title: "Add or import the first risk",
						why: "Describe what could happen, how likely and how severe it is, and what you do about it.",
						isDone: hasRisks,
						action: (
							<Group gap="xs">
								<ButtonLink
									to="/o/$org/r/$kind/import"
									params={{ org, kind: "risk" }}
									size="xs"
									variant="default"
								>
									Import risks
								</ButtonLink>
								<ButtonLink
									to="/o/$org/r/$kind/new"
									params={{ org, kind: "risk" }}
									size="xs"
									variant="default"
								>
									New risk
								</ButtonLink>
							</Group>
						),
					},
				]
			: []),
		{
			title: "Create an API token",
			why: "An AI client or a script can then work here with exactly your permissions.",
			// A token that has expired or was revoked still counts, because the reader has done this
			// step.
			isDone: (tokens.data?.api_tokens.length ?? 0) > 0,
			action: (
				<ButtonLink
					to="/o/$org/settings/api-tokens"
					params={{ org }}
					size="xs"
					variant="default"
				>
					API tokens
				</ButtonLink>
			),
		},
		...(mayAdmin
			? [
					{
						title: "Invite your colleagues",
						why: "Members edit the registers. Viewers, such as auditors, only read.",
						isDone:
							(members.data?.members.length ?? 0) > 1 ||
							(invitations.data?.invitations.length ?? 0) > 0,
						action: (
							<ButtonLink
								to="/o/$org/settings/members"
								params={{ org }}
								size="xs"
								variant="default"
							>
								Members
							</ButtonLink>
						),
					},
				]
			: []),
	];
	const done = steps.filter(({ isDone }) => isDone).length;
	const isAllDone = done === steps.length;
	// biome-ignore lint/correctness/useExhaustiveDependencies: called only when the state changes.
	useEffect(() => {
		if (isAllDone) onOver(false);
	}, [isAllDone]);
	const isKnown =
		tokens.isFetched &&
		members.isFetched &&
		(!mayAdmin || invitations.isFetched);
	if (!isKnown || isAllDone) return null;
	return (
		<Section
			title="First steps"
			more={
				<Group gap="xs">
					<Text size="sm" c="dimmed">
						{done} of {steps.length} done
					</Text>
					<Button
						size="compact-sm"
						variant="subtle"
						onClick={() => onOver(true)}
					>
						Hide
					</Button>
				</Group>
			}
		>
			<ol className={styles.rows}>
				{steps.map((step) => (
					<li key={step.title} className={styles.row}>
						<StepRow {...step} />
					</li>
				))}
			</ol>
		</Section>
	);
}

function StepRow({ title, why, isDone, action }: Step) {
	return (
		<Group gap="sm" align="flex-start">
			<ThemeIcon
				size={22}
				radius="xl"
				variant={isDone ? "filled" : "transparent"}
				color={isDone ? "green.9" : "gray.6"}
				role="img"
				aria-label={isDone ? "Done" : "To do"}
				mt={1}
			>
				{isDone ? <IconCheck size={14} /> : <IconCircleDashed size={20} />}
			</ThemeIcon>
			<Box flex="1 1 240px">
				<Text fw={500} td={isDone ? "line-through" : undefined}>
					{title}
				</Text>
				<Text size="sm" c="dimmed">
					{why}
				</Text>
			</Box>
			{!isDone && action}
		</Group>
	);
}

const keyOf = (organizationId: string) => `assay-first-steps-${organizationId}`;

function wasOver(organizationId: string): boolean {
	try {
		return localStorage.getItem(keyOf(organizationId)) === "over";
	} catch {
		return false;
	}
}

function rememberOver(organizationId: string): void {
	try {
		localStorage.setItem(keyOf(organizationId), "over");
	} catch {
		// The browser blocks the storage, so the steps are shown again next time.
	}
}
