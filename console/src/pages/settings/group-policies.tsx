import {
	ActionIcon,
	Button,
	Group,
	List,
	Paper,
	Text,
	Title,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconArrowDown, IconArrowUp, IconPlus } from "@tabler/icons-react";
import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { POLICIES } from "../../parts/devices/device-groups.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";
import { TextLink } from "../../parts/links.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import type { Policy } from "./check-rules-table.tsx";
import {
	describeChoice,
	inUnit,
	POLICY_CHOICES,
	POLICY_FIELDS,
} from "./device-policy-fields.ts";
import { GroupPolicyDialog } from "./group-policy-dialog.tsx";

export type GroupPolicy =
	OutputOf<"listDeviceGroupPolicies">["group_policies"][number];

const ROUTE = "/signed-in/o/$org/settings/device-policy";

/**
 * Lists the policies of groups in their order. Administrators add, order and remove them. A link
 * with a group leads here, and opens the group's policy for an administrator.
 */
export function GroupPolicies({ policy }: { policy: Policy }) {
	const { organizationId, mayAdmin } = useOrganization();
	const {
		data: { group_policies: policies },
	} = useSuspenseQuery(
		operationQuery("listDeviceGroupPolicies", {
			organization_id: organizationId,
		}),
	);
	const { group: linked } = useSearch({ from: ROUTE });
	const isAsked = useLocation({ select: ({ hash }) => hash === POLICIES });
	const navigate = useNavigate({ from: "/o/$org/settings/device-policy" });
	const [edited, setEdited] = useState<GroupPolicy | "new" | null>(() =>
		linked !== undefined && mayAdmin
			? (policies.find(({ group_id }) => group_id === linked) ?? "new")
			: null,
	);
	const [removed, setRemoved] = useState<GroupPolicy | null>(null);
	const moving = useMutation({
		mutationFn: async ({ group_id, priority }: GroupPolicy) => {
			await call("setDeviceGroupPolicy", { group_id, priority });
			await forgetReadings();
		},
	});
	const actions = (row: GroupPolicy) => (
		<Group gap="xs" miw={{ base: 0, sm: 240 }}>
			{[
				{ by: -1, word: "up", Icon: IconArrowUp },
				{ by: 1, word: "down", Icon: IconArrowDown },
			].map(({ by, word, Icon }) => (
				<ActionIcon
					key={word}
					variant="default"
					size="md"
					aria-label={`Move ${row.group_name} ${word}`}
					disabled={
						moving.isPending ||
						row.priority + by < 1 ||
						row.priority + by > policies.length
					}
					onClick={() => moving.mutate({ ...row, priority: row.priority + by })}
				>
					<Icon size={16} aria-hidden />
				</ActionIcon>
			))}
			<Button
				size="compact-sm"
				variant="default"
				aria-label={`Edit the policy of ${row.group_name}`}
				onClick={() => setEdited(row)}
			>
				Edit
			</Button>
			<Button
				size="compact-sm"
				variant="default"
				aria-label={`Remove the policy of ${row.group_name}`}
				onClick={() => setRemoved(row)}
			>
				Remove …
			</Button>
		</Group>
	);
	return (
		<Paper
			withBorder
			p="md"
			mt="lg"
			component="section"
			aria-label="Policies of groups"
			ref={linked !== undefined || isAsked ? scrollTo : undefined}
			style={{ scrollMarginTop: 72 }}
		>
			<Group justify="space-between" mb={4}>
				<Title order={2}>Policies of groups</Title>
				{mayAdmin && (
					<Button
						variant="default"
						leftSection={<IconPlus size={16} aria-hidden />}
						onClick={() => setEdited("new")}
					>
						Add a group's policy
					</Button>
				)}
			</Group>
			<Text size="sm" c="dimmed" mb="md">
				The policy of a group replaces single values for its devices. If a
				device is in several of these groups, the first policy in this order
				applies.
			</Text>
			{moving.isError && (
				<ErrorState error={moving.error} title="The order was not changed" />
			)}
			{policies.length === 0 ? (
				<Text size="sm">
					No group has a policy. The one above applies to all devices.
				</Text>
			) : (
				<CardTable
					label="Policies of groups"
					minWidth={mayAdmin ? 860 : 560}
					columns={[
						"Group",
						FIELD_LABELS.device_group_policy.priority,
						"Replaces",
						"Active devices",
						...(mayAdmin ? ["Actions"] : []),
					]}
					rows={policies.map((row) => ({
						key: row.group_id,
						cells: [
							<TextLink
								key="group"
								to="/o/$org/devices"
								params={{ org: organizationId }}
								search={{ group_id: row.group_id }}
								size="sm"
								fw={500}
								style={{ overflowWrap: "anywhere" }}
							>
								{row.group_name}
							</TextLink>,
							row.priority,
							<Replaced key="replaces" policy={row} />,
							row.device_count.toLocaleString(),
							...(mayAdmin ? [actions(row)] : []),
						],
					}))}
				/>
			)}
			{edited && (
				<GroupPolicyDialog
					policy={edited === "new" ? undefined : edited}
					groupId={linked}
					usual={policy}
					taken={policies.map(({ group_id }) => group_id)}
					onClose={() => {
						setEdited(null);
						if (linked !== undefined) {
							void navigate({ search: {}, replace: true, resetScroll: false });
						}
					}}
				/>
			)}
			<Confirm
				opened={removed !== null}
				onClose={() => setRemoved(null)}
				title={`Remove the policy of “${removed?.group_name}”?`}
				action="Remove the policy"
				onConfirm={async () => {
					if (removed) {
						await call("deleteDeviceGroupPolicy", {
							group_id: removed.group_id,
						});
					}
					await forgetReadings();
					notifications.show({ message: "The policy is removed." });
				}}
			>
				The group stays. Its devices get the next policy of their groups, or the
				organization's.
			</Confirm>
		</Paper>
	);
}

/** Scrolls to the section. The router first scrolls a new page to its top. */
function scrollTo(section: HTMLElement | null): void {
	requestAnimationFrame(() => section?.scrollIntoView());
}

/** Says in words what the policy of a group replaces. */
function Replaced({ policy }: { policy: GroupPolicy }) {
	const lines = wordsOf(policy);
	if (lines.length === 0) return <Text size="sm">Nothing yet</Text>;
	return (
		<List size="sm" withPadding={false}>
			{lines.map((line) => (
				<List.Item key={line}>{line}</List.Item>
			))}
		</List>
	);
}

const daysInWords = (days: number) => (days === 1 ? "1 day" : `${days} days`);

function wordsOf(policy: GroupPolicy): string[] {
	return [
		...policy.checks.map((rule) => {
			const { is_required, grace_days, new_device_grace_days } = rule;
			const parts = [
				...(is_required === null
					? []
					: [is_required ? "required" : "not required"]),
				...(grace_days === null ? [] : [`${daysInWords(grace_days)} of grace`]),
				...(new_device_grace_days === null
					? []
					: [`${daysInWords(new_device_grace_days)} for new devices`]),
			];
			return `${rule.check_name ?? rule.check_key}: ${parts.join(", ")}`;
		}),
		...POLICY_FIELDS.flatMap((field) => {
			const value = policy[field.name];
			return value === null ? [] : [`${field.label}: ${inUnit(field, value)}`];
		}),
		...POLICY_CHOICES.flatMap((choice) => {
			const value = policy[choice.name];
			return value === null
				? []
				: [`${choice.label}: ${describeChoice(choice, value)}`];
		}),
		...(policy.max_silence_days === null
			? []
			: [
					`${FIELD_LABELS.device_group_policy.max_silence_days}: ${daysInWords(policy.max_silence_days)}`,
				]),
	];
}
