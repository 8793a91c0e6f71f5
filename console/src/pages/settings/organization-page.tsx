import { Button, Paper, Stack, Text, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { CopyField } from "../../parts/copy-field.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { ASK_FOR_AUDIT_LOG } from "../../parts/roles.tsx";
import { organizationsQuery } from "../../queries.ts";
import { CreateOrganization } from "./create-organization.tsx";
import { DeleteOrganization } from "./delete-organization.tsx";
import { ExportOrganization } from "./export-organization.tsx";
import { durationWords } from "./intervals.ts";
import { IntervalsForm } from "./intervals-form.tsx";
import { OrganizationForm } from "./organization-form.tsx";
import { TimeZoneForm } from "./time-zone-form.tsx";

/** Shows the organization: its name, time zone, the devices' intervals, its export and deletion. */
export function Page() {
	const { organization, mayAdmin, mayReadAuditLog } = useOrganization();
	const [isCreating, setIsCreating] = useState(false);
	const { data: own } = useSuspenseQuery(organizationsQuery);
	// A user who is a viewer everywhere, such as an auditor, has no reason to create an organization.
	const mayCreate = own.some(({ role }) => role !== "viewer");
	return (
		<>
			<PageHeader
				title="Organization"
				description={
					mayAdmin
						? "Name, description, time zone and reporting intervals."
						: "Only administrators can change this."
				}
				actions={
					mayCreate && (
						<Button
							variant="default"
							leftSection={<IconPlus size={16} aria-hidden />}
							onClick={() => setIsCreating(true)}
						>
							Create another organization
						</Button>
					)
				}
			/>
			<Stack maw={720} gap="lg">
				<Section title="About">
					{mayAdmin ? (
						<OrganizationForm
							key={organization.id}
							organization={organization}
						/>
					) : (
						<Facts
							facts={[
								["Name", organization.name],
								["Description", organization.description ?? "–"],
							]}
						/>
					)}
				</Section>
				<Section title="Time zone">
					{mayAdmin ? (
						<TimeZoneForm key={organization.id} organization={organization} />
					) : (
						<Facts facts={[["Time zone", organization.time_zone]]} />
					)}
				</Section>
				<Section title="How often devices report">
					{mayAdmin ? (
						<IntervalsForm key={organization.id} organization={organization} />
					) : (
						<Facts
							facts={[
								[
									"Heartbeat",
									`every ${durationWords(organization.heartbeat_interval_seconds)}`,
								],
								[
									"Posture report",
									`every ${durationWords(organization.posture_interval_seconds)}`,
								],
							]}
						/>
					)}
				</Section>
				{!mayReadAuditLog && (
					<Section title="Audit log">
						<Text size="sm">{ASK_FOR_AUDIT_LOG}</Text>
					</Section>
				)}
				<CopyField
					label="ID of the organization, for tools and commands"
					value={organization.id}
				/>
				{mayAdmin && (
					<>
						<Section title="Export">
							<ExportOrganization organization={organization} />
						</Section>
						<Section title="Delete">
							<DeleteOrganization organization={organization} />
						</Section>
					</>
				)}
			</Stack>
			<CreateOrganization
				opened={isCreating}
				onClose={() => setIsCreating(false)}
			/>
		</>
	);
}

function Section({ title, children }: { title: string; children: ReactNode }) {
	return (
		<Paper withBorder p="md" component="section" aria-label={title}>
			<Title order={2} mb="sm">
				{title}
			</Title>
			{children}
		</Paper>
	);
}

function Facts({ facts }: { facts: [string, string][] }) {
	return (
		<Stack component="dl" gap="sm" m={0}>
			{facts.map(([name, value]) => (
				<div key={name}>
					<Text component="dt" size="sm" c="dimmed">
						{name}
					</Text>
					<Text component="dd" m={0} style={{ whiteSpace: "pre-wrap" }}>
						{value}
					</Text>
				</div>
			))}
		</Stack>
	);
}
