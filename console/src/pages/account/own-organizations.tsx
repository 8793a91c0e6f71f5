import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InputOf } from "../../api.ts";
import { LeaveOrganization } from "../../parts/leave-organization.tsx";
import { TextLink } from "../../parts/links.tsx";
import { ROLES } from "../../parts/roles.tsx";
import { operationQuery } from "../../queries.ts";
import styles from "./account.module.css";
import { Section } from "./account-section.tsx";
import type { Profile } from "./profile-form.tsx";

type Own = Profile["organizations"][number];

/** Lists the user's organizations, each with a button to leave it. */
export function OwnOrganizations({
	organizations,
}: {
	organizations: readonly Own[];
}) {
	const [leaving, setLeaving] = useState<Own | null>(null);
	return (
		<Section title="Organizations">
			{organizations.length === 0 ? (
				<Text size="sm">
					You belong to no organization. An administrator of one can invite you.
				</Text>
			) : (
				<ul className={styles.rows}>
					{organizations.map((organization) => (
						<li key={organization.id} className={styles.row}>
							<Group justify="space-between" wrap="nowrap" gap="sm">
								<Stack gap={2} miw={0}>
									<TextLink
										to="/o/$org"
										params={{ org: organization.id }}
										fw={500}
									>
										{organization.name}
									</TextLink>
									<Text size="sm" c="dimmed">
										{ROLES[organization.role].label}
									</Text>
								</Stack>
								<Button
									variant="default"
									size="xs"
									flex="none"
									onClick={() => setLeaving(organization)}
									aria-label={`Leave ${organization.name}`}
								>
									Leave …
								</Button>
							</Group>
						</li>
					))}
				</ul>
			)}
			{leaving && (
				<Leave organization={leaving} onClose={() => setLeaving(null)} />
			)}
		</Section>
	);
}

/**
 * Offers to leave an organization. If the user is its only administrator, explains why that is not
 * possible.
 */
function Leave({
	organization,
	onClose,
}: {
	organization: Own;
	onClose: () => void;
}) {
	const isAdmin = organization.role === "admin";
	const admins = useQuery({
		...operationQuery("listMembers", {
			organization_id: organization.id,
			size: 2,
			filter: { role: "admin" },
		} as InputOf<"listMembers">),
		enabled: isAdmin,
	});
	if (isAdmin && admins.isPending) return null;
	return (
		<LeaveOrganization
			organization={organization}
			isLastAdmin={isAdmin && admins.data?.members.length === 1}
			onClose={onClose}
		/>
	);
}
