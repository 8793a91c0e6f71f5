import { Alert } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { OLD_TOKEN_DAYS } from "../../../../src/tokens/old-token.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";

/** Warns about old API tokens. `count` is null if the reader is not an administrator. */
export function OldTokens({ count }: { count: number | null }) {
	const { organizationId } = useOrganization();
	if (!count) return null;
	return (
		<Alert
			color="orange"
			variant="outline"
			icon={<IconKey aria-hidden />}
			py="xs"
		>
			<TextLink
				to="/o/$org/settings/api-tokens"
				params={{ org: organizationId }}
				search={{ of: "organization", age: "old" }}
				underline="always"
				inherit
			>
				{count === 1
					? "1 API token is"
					: `${count.toLocaleString()} API tokens are`}{" "}
				older than {OLD_TOKEN_DAYS} days
			</TextLink>
			. Rotate the ones in use and revoke the others.
		</Alert>
	);
}
