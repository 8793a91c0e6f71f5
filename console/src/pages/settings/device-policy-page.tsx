import { Paper, Stack, Text, Title } from "@mantine/core";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { CheckRulesForm } from "./check-rules-form.tsx";
import { CheckRulesTable } from "./check-rules-table.tsx";
import {
	describeChoice,
	inUnit,
	POLICY_CHOICES,
	POLICY_FIELDS,
} from "./device-policy-fields.ts";
import { DevicePolicyForm } from "./device-policy-form.tsx";
import { GroupPolicies } from "./group-policies.tsx";

/** Shows what the organization requires of its devices. Administrators can change it. */
export function Page() {
	const { organization, mayAdmin } = useOrganization();
	const {
		data: { policy },
	} = useSuspenseQuery(
		operationQuery("getDevicePolicy", { organization_id: organization.id }),
	);
	return (
		<>
			<PageHeader
				title="Device policy"
				description={
					mayAdmin
						? "Agents judge your devices by these limits, and the rules say what counts."
						: "Only administrators can change this."
				}
			/>
			<Paper withBorder p="md" component="section" aria-label="Thresholds">
				<Title order={2} mb="sm">
					Thresholds
				</Title>
				{mayAdmin ? (
					<DevicePolicyForm
						key={`${organization.id} ${policy.updated_at}`}
						organizationId={organization.id}
						policy={policy}
					/>
				) : (
					<Stack component="dl" gap="sm" m={0}>
						{POLICY_FIELDS.map((field) => (
							<div key={field.name}>
								<Text component="dt" size="sm" c="dimmed">
									{field.label}
								</Text>
								<Text component="dd" m={0}>
									{inUnit(field, policy[field.name])}
								</Text>
							</div>
						))}
						{POLICY_CHOICES.map((choice) => (
							<div key={choice.name}>
								<Text component="dt" size="sm" c="dimmed">
									{choice.label}
								</Text>
								<Text component="dd" m={0}>
									{describeChoice(choice, policy[choice.name])}
								</Text>
							</div>
						))}
					</Stack>
				)}
				<Text size="sm" c="dimmed" mt="md">
					Last changed <DateTime value={policy.updated_at} />. A device gets a
					change with its next heartbeat and applies it in its next report.
					Agents other than Assay's use their own limits.
				</Text>
			</Paper>
			<Paper
				withBorder
				p="md"
				mt="lg"
				component="section"
				aria-label="Rules of the checks"
			>
				<Title order={2} mb={4}>
					Rules of the checks
				</Title>
				<Text size="sm" c="dimmed" mb="md">
					A device that fails a required check is in grace at first. Past its
					grace, it is noncompliant. A check that nobody has confirmed for
					longer than the longest silence does not count as passing.
				</Text>
				{mayAdmin ? (
					<CheckRulesForm
						key={`${organization.id} ${policy.updated_at}`}
						organizationId={organization.id}
						policy={policy}
					/>
				) : (
					<CheckRulesTable policy={policy} />
				)}
			</Paper>
			<GroupPolicies policy={policy} />
		</>
	);
}
