import { Text } from "@mantine/core";
import { TextLink } from "../links.tsx";

/** Replaces a picker of groups that has nothing to offer, and leads to the page that adds one. */
export function NoGroup({
	organizationId,
	children = "There is no group yet.",
}: {
	organizationId: string;
	children?: string;
}) {
	return (
		<Text size="sm">
			{children} Add one in{" "}
			<TextLink
				to="/o/$org/devices/groups"
				params={{ org: organizationId }}
				inherit
				underline="always"
			>
				Devices → Groups
			</TextLink>
			.
		</Text>
	);
}
