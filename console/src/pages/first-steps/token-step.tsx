import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { CreateToken } from "../settings/create-token.tsx";

/** Creates an API token without leaving the first steps. */
export function TokenStep() {
	const { organizationId: org } = useOrganization();
	const [isCreating, setCreating] = useState(false);
	return (
		<Stack align="flex-start">
			<Button onClick={() => setCreating(true)}>Create a token</Button>
			<Text size="sm">
				Your tokens and their use are under{" "}
				<TextLink
					underline="always"
					to="/o/$org/settings/api-tokens"
					params={{ org }}
				>
					API tokens
				</TextLink>
				.
			</Text>
			{isCreating && <CreateToken onClose={() => setCreating(false)} />}
		</Stack>
	);
}
