import { Stack, Text } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { DomainsCard } from "./domains-card.tsx";
import { IdentityProvidersCard } from "./identity-providers-card.tsx";
import { OnlyProviderCard } from "./only-provider-card.tsx";
import { ProvisioningCard } from "./provisioning-card.tsx";
import { SessionsCard } from "./session-limits.tsx";

/** Settings for how people come into the organization and sign in. */
export function Page() {
	const { organization, mayAdmin } = useOrganization();
	return (
		<>
			<PageHeader
				title="Sign-in"
				description="How people of this organization get their accounts and sign in."
			/>
			{mayAdmin ? (
				<Stack gap="lg" maw={880}>
					<IdentityProvidersCard organizationId={organization.id} />
					<DomainsCard organizationId={organization.id} />
					<OnlyProviderCard organizationId={organization.id} />
					<SessionsCard
						key={organization.id}
						organizationId={organization.id}
					/>
					<ProvisioningCard organizationId={organization.id} />
				</Stack>
			) : (
				<Text>Only administrators see these settings.</Text>
			)}
		</>
	);
}
