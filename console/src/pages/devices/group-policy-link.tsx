import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { operationQuery } from "../../queries.ts";

/** Says above the devices of a group whether it has its own device policy, and leads to it. */
export function GroupPolicyLink({ groupId }: { groupId: string }) {
	const { organizationId, mayAdmin } = useOrganization();
	const policies = useQuery(
		operationQuery("listDeviceGroupPolicies", {
			organization_id: organizationId,
		}),
	);
	if (!policies.data) return null;
	const isOwn = policies.data.group_policies.some(
		({ group_id }) => group_id === groupId,
	);
	const link = {
		to: "/o/$org/settings/device-policy",
		params: { org: organizationId },
		fz: "inherit",
	} as const;
	if (isOwn || mayAdmin) {
		return (
			<TextLink {...link} search={{ group: groupId }}>
				{isOwn ? "Device policy of this group" : "Give this group a policy …"}
			</TextLink>
		);
	}
	return <TextLink {...link}>Device policy of the organization</TextLink>;
}
