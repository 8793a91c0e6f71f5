import { Badge, Button, Group, Select, Text } from "@mantine/core";
import { IconUserPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { namedFilter } from "../../parts/filter-width.ts";
import { FoldedFilters } from "../../parts/folded-filters.tsx";
import { LeaveOrganization } from "../../parts/leave-organization.tsx";
import { TextLink } from "../../parts/links.tsx";
import { limitsInWords } from "../../parts/membership-limits.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { Pager } from "../../parts/pager.tsx";
import { type Member, ROLES, roleOptions } from "../../parts/roles.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { meQuery, operationQuery } from "../../queries.ts";
import { Invitations } from "./invitations.tsx";
import { InviteMany } from "./invite-many.tsx";
import { InviteMember } from "./invite-member.tsx";
import { MemberActions } from "./member-actions.tsx";

type Row = Member & { id: string };

/** Lists the members of the organization and the open invitations. */
export function Page() {
	const { organization, organizationId, role, mayAdmin } = useOrganization();
	const list = useListSearch();
	const [dialog, setDialog] = useState<"invite" | "many" | "leave" | null>(
		null,
	);
	const { data: me } = useQuery(meQuery);
	const members = useQuery({
		...operationQuery("listMembers", {
			organization_id: organizationId,
			order_by: { field: "name" },
			...list.input,
		} as InputOf<"listMembers">),
		placeholderData: keepPreviousData,
	});
	const administrators = useQuery(
		operationQuery("listMembers", {
			organization_id: organizationId,
			filter: { role: "admin" },
			size: 2,
		} as InputOf<"listMembers">),
	);
	const isOnlyAdmin =
		role === "admin" && administrators.data?.members.length === 1;
	const rows = (members.data?.members ?? []).map((member) => ({
		...member,
		id: member.user_id,
	}));
	const columns = columnsFor(mayAdmin, me?.id, isOnlyAdmin);
	return (
		<>
			<PageHeader
				title="Members"
				isWide
				description="The members of this organization and their roles. People without an account are in the register People."
				actions={
					mayAdmin && (
						<>
							<Button variant="default" onClick={() => setDialog("many")}>
								Invite many
							</Button>
							<Button
								leftSection={<IconUserPlus size={16} aria-hidden />}
								onClick={() => setDialog("invite")}
							>
								Invite a member
							</Button>
						</>
					)
				}
			/>
			<FilterBar list={list} label="Search members">
				<FoldedFilters list={list}>
					{" "}
					<Select
						data={roleOptions}
						value={(list.filters.role as string | undefined) ?? null}
						onChange={(value) => list.setFilter("role", value ?? undefined)}
						clearable
						clearButtonProps={clearButton("Clear Role")}
						{...namedFilter("Role", 160)}
					/>
				</FoldedFilters>{" "}
			</FilterBar>
			{members.isPending && <RowsSkeleton />}
			{members.isError && (
				<ErrorState error={members.error} onRetry={members.refetch} />
			)}
			{members.isSuccess && rows.length === 0 && (
				<EmptyState
					title="No member matches"
					actions={
						<Button variant="default" onClick={() => list.clearFilters()}>
							Show all members
						</Button>
					}
				>
					Remove the filter, or search for other words.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Members"
					columns={columns}
					rows={rows}
					list={list}
					isStale={members.isPlaceholderData}
				/>
			)}
			{members.isSuccess && (
				<Pager
					list={list}
					page={members.data}
					shown={members.data.members.length}
				/>
			)}
			{mayAdmin && <Invitations />}
			<Group mt="xl">
				<Button
					variant="subtle"
					color="gray"
					c="dimmed"
					size="compact-sm"
					onClick={() => setDialog("leave")}
				>
					Leave {organization.name} …
				</Button>
			</Group>
			{dialog === "invite" && <InviteMember onClose={() => setDialog(null)} />}
			{dialog === "many" && <InviteMany onClose={() => setDialog(null)} />}
			{dialog === "leave" && (
				<LeaveOrganization
					organization={organization}
					isLastAdmin={isOnlyAdmin}
					onClose={() => setDialog(null)}
				/>
			)}
		</>
	);
}

function columnsFor(
	mayAdmin: boolean,
	myId: string | undefined,
	isOnlyAdmin: boolean,
): Column<Row>[] {
	return [
		{
			id: "name",
			header: "Name",
			sort: "name",
			cell: ({ name, user_id, organization_id }) => (
				<Group gap="xs" wrap="nowrap">
					{mayAdmin ? (
						<TextLink
							to="/o/$org/settings/members/$id"
							params={{ org: organization_id, id: user_id }}
							className="data-table-link"
							size="sm"
							fw={500}
							style={{ overflowWrap: "anywhere" }}
						>
							{name}
						</TextLink>
					) : (
						<Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
							{name}
						</Text>
					)}
					{user_id === myId && (
						<Badge variant="default" tt="none" fw={500} flex="none">
							You
						</Badge>
					)}
				</Group>
			),
		},
		{
			id: "email",
			header: "E-mail address",
			sort: "email",
			cell: ({ email }) => email,
		},
		{
			id: "role",
			header: "Role",
			cell: (member) => (
				<>
					<Text size="sm">{ROLES[member.role].label}</Text>
					<Text size="xs" c="dimmed">
						{limitsInWords(member)}
					</Text>
				</>
			),
		},
		...(mayAdmin
			? [
					{
						id: "two_factor",
						header: "Two-factor",
						cell: ({ two_factor_enabled }: Row) =>
							two_factor_enabled ? (
								<StatusBadge tone="good" label="On" />
							) : (
								<StatusBadge tone="neutral" label="Off" />
							),
					},
				]
			: []),
		{
			id: "since",
			header: "Since",
			sort: "created_at",
			firstDirection: "desc",
			cell: ({ created_at }) => <DateTime value={created_at} />,
		},
		...(mayAdmin
			? [
					{
						id: "actions",
						header: "Actions",
						align: "right" as const,
						width: 90,
						cell: (member: Row) => (
							<MemberActions
								member={member}
								isSelf={member.user_id === myId}
								isLastAdmin={isOnlyAdmin && member.role === "admin"}
							/>
						),
					},
				]
			: []),
	];
}
