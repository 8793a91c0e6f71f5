import { Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { WAYS_DAYS } from "../../../../src/organizations/days.ts";
import type { InputOf, OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Columns } from "../../parts/columns.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { Fact } from "../../parts/fact.tsx";
import { TextLink } from "../../parts/links.tsx";
import { limitsInWords } from "../../parts/membership-limits.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { ROLES } from "../../parts/roles.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { meQuery, operationQuery } from "../../queries.ts";
import { MemberActions } from "./member-actions.tsx";

/** Shows a member to an administrator: the membership, the sign-ins, and what can be done. */
export function Page() {
	const { mayAdmin } = useOrganization();
	if (!mayAdmin) {
		return (
			<>
				<PageHeader title="Member" parent={<ToMembers />} />
				<EmptyState title="Only administrators see this page">
					The list of members has the name and role of everybody.
				</EmptyState>
			</>
		);
	}
	return <MemberPage />;
}

function ToMembers() {
	const { organizationId } = useOrganization();
	return (
		<TextLink
			to="/o/$org/settings/members"
			params={{ org: organizationId }}
			inherit
		>
			Members
		</TextLink>
	);
}

function MemberPage() {
	const { id } = useParams({ strict: false }) as { id: string };
	const { organization, organizationId } = useOrganization();
	const navigate = useNavigate();
	const { data: me } = useQuery(meQuery);
	const administrators = useQuery(
		operationQuery("listMembers", {
			organization_id: organizationId,
			filter: { role: "admin" },
			size: 2,
		} as InputOf<"listMembers">),
	);
	const found = useQuery(
		operationQuery("getMember", {
			organization_id: organizationId,
			user_id: id,
		}),
	);
	if (found.isPending) return <PageSkeleton />;
	if (found.isError) {
		return (
			<>
				<PageHeader title="Member" parent={<ToMembers />} />
				<ErrorState error={found.error} onRetry={found.refetch} />
			</>
		);
	}
	const { member } = found.data;
	const isSelf = me?.id === member.user_id;
	return (
		<>
			<PageHeader
				parent={<ToMembers />}
				title={member.name}
				description={isSelf ? `${member.email} (you)` : member.email}
				actions={
					<MemberActions
						member={member}
						isSelf={isSelf}
						isLastAdmin={
							member.role === "admin" &&
							administrators.data?.members.length === 1
						}
						isButton
						onRemoved={() =>
							navigate({
								to: "/o/$org/settings/members",
								params: { org: organizationId },
								ignoreBlocker: true,
							})
						}
					/>
				}
			/>
			<Membership found={found.data} />
			<SignIn found={found.data} />
			<Text size="sm" c="dimmed" mt="lg" maw={720}>
				A membership cannot be suspended. To end access on a day, choose “Change
				role” and give a last day. To end access at once, remove the member: the
				sessions and API tokens no longer reach {organization.name} from the
				next request on. You can invite the member again. What the member does
				in other organizations is not shown here.
			</Text>
		</>
	);
}

type Found = OutputOf<"getMember">;

function Membership({ found: { member, person } }: { found: Found }) {
	return (
		<Card title="Membership">
			<Fact name="Role">{ROLES[member.role].label}</Fact>
			<Fact name="Limits">{limitsInWords(member) || "None"}</Fact>
			<Fact name="Status">
				{member.is_ended ? (
					<StatusBadge tone="neutral" label="Ended" />
				) : (
					<StatusBadge tone="good" label="Active" />
				)}
			</Fact>
			<Fact name="Member since">
				<DateTime value={member.created_at} />
			</Fact>
			<Fact name="Person">
				{person ? (
					<RecordLink
						organizationId={member.organization_id}
						kind="people"
						id={person.id}
					>
						{person.name}
					</RecordLink>
				) : (
					"No person has this address"
				)}
			</Fact>
		</Card>
	);
}

function SignIn({ found }: { found: Found }) {
	const { member, last_sign_in_at, sign_in_ways, api_tokens } = found;
	const org = member.organization_id;
	return (
		<Card title="Sign-in">
			<Fact name="Last sign-in">
				{last_sign_in_at ? (
					<DateTime value={last_sign_in_at} />
				) : (
					"None yet in this organization"
				)}
			</Fact>
			<Fact name={`Ways in the last ${WAYS_DAYS} days`}>
				{sign_in_ways.map((way) => WAYS[way]).join(", ") || "None"}
			</Fact>
			<Fact name="Two-factor authentication">
				{member.two_factor_enabled ? (
					<StatusBadge tone="good" label="On" />
				) : (
					<StatusBadge tone="neutral" label="Off" />
				)}
			</Fact>
			<Fact name="API tokens that reach this organization">
				<TextLink
					to="/o/$org/settings/api-tokens"
					params={{ org }}
					search={{ of: "organization" }}
					size="sm"
				>
					{api_tokens.toLocaleString()}
				</TextLink>
			</Fact>
			<Fact name="Activity">
				<TextLink
					to="/o/$org/settings/audit-log"
					params={{ org }}
					search={{ actor_id: member.user_id }}
					size="sm"
				>
					Audit log of this member
				</TextLink>
			</Fact>
		</Card>
	);
}

const WAYS: Record<Found["sign_in_ways"][number], string> = {
	PASSWORD: "Password",
	PASSKEY: "Passkey",
	PROVIDER: "Identity provider",
};

function Card({ title, children }: { title: string; children: ReactNode }) {
	return (
		<Paper withBorder p="md" mb="md" component="section" aria-label={title}>
			<Title order={2} mb="sm">
				{title}
			</Title>
			<Columns as="dl" cols={{ base: 1, sm: 2, lg: 3 }} verticalSpacing="sm">
				{children}
			</Columns>
		</Paper>
	);
}
