import { Group, Paper, Title } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import type { ListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { Columns } from "../../parts/columns.tsx";
import { daysBetween } from "../../parts/days.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { RegisterKind } from "../../register-kinds.ts";
import { inDays, OVERDUE } from "../../relative-filters.ts";
import { Section } from "./home-section.tsx";

export type Overview = OutputOf<"getOverview">;
type Work = Overview["tasks"];

/**
 * Shows the work that is due, one register after the other. "Soon" means within 14 days, as the
 * server counts it.
 */
export function DueWork({ overview }: { overview: Overview }) {
	const { organizationId, mayWriteKind } = useOrganization();
	const common = { overview };
	const { nonconformities, tasks, obligations, continual_improvements } =
		overview;
	const all = [nonconformities, tasks, obligations, continual_improvements];
	if (all.every(({ open }) => open === 0)) {
		return (
			<Section
				title="Open work"
				none={
					<>
						No nonconformities, tasks, obligations or improvements are open.{" "}
						{mayWriteKind("task") && (
							<TextLink
								to="/o/$org/r/$kind/new"
								params={{ org: organizationId, kind: "task" }}
								inherit
								underline="always"
							>
								Add a task
							</TextLink>
						)}
					</>
				}
			/>
		);
	}
	return (
		<Columns
			cols={{ base: 2, lg: 4 }}
			spacing="md"
			as="section"
			aria-label="Open work"
		>
			<Tile
				{...common}
				kind="nonconformity"
				title="Open nonconformities"
				work={nonconformities}
			/>
			<Tile {...common} kind="task" title="Open tasks" work={tasks} />
			<Tile
				{...common}
				kind="obligation"
				title="Open obligations"
				work={obligations}
			/>
			<Tile
				{...common}
				kind="continual_improvement"
				title="Open improvements"
				work={continual_improvements}
			/>
		</Columns>
	);
}

function Tile({
	kind,
	title,
	work,
	overview: { today, soon_until },
}: {
	kind: RegisterKind;
	title: string;
	work: Work;
	overview: Overview;
}) {
	const { organizationId } = useOrganization();
	const link = (search: ListSearch) => ({
		to: "/o/$org/r/$kind" as const,
		params: { org: organizationId, kind },
		search: { is_open: true, ...search },
	});
	return (
		<Paper withBorder p="md">
			<Title order={2} fz="sm" fw={500} c="dimmed">
				{title}
			</Title>
			<TextLink
				{...link({})}
				fz={30}
				fw={600}
				lh={1.3}
				c="inherit"
				aria-label={`${title}: ${work.open.toLocaleString()}`}
			>
				{work.open.toLocaleString()}
			</TextLink>
			<Group gap={6} mt={4} mih={24}>
				{work.overdue > 0 && (
					<TextLink {...link({ due: OVERDUE })} underline="never" c="inherit">
						<StatusBadge
							tone="bad"
							label={`${work.overdue.toLocaleString()} overdue`}
						/>
					</TextLink>
				)}
				{work.due_soon > 0 && (
					<TextLink
						{...link({ due: inDays(daysBetween(today, soon_until)) })}
						underline="never"
						c="inherit"
					>
						<StatusBadge
							tone="warning"
							label={`${work.due_soon.toLocaleString()} due soon`}
						/>
					</TextLink>
				)}
				{work.overdue + work.due_soon === 0 && (
					<PlainText size="sm" c="dimmed">
						{work.open > 0 ? "None due soon" : "Nothing to do"}
					</PlainText>
				)}
			</Group>
		</Paper>
	);
}
