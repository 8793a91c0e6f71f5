import { Button } from "@mantine/core";
import type { OutputOf } from "../api.ts";

export type ClosedOrganization = NonNullable<
	OutputOf<"listOrganizations">["closed"]
>[number];

/**
 * Buttons that lead to the identity providers of an organization that accepts nothing else. The
 * browser then comes back to `to`, with the part after the #.
 */
export function SignInWays({
	ways = [],
	to,
}: {
	ways: ClosedOrganization["sign_in_ways"];
	to: string;
}) {
	const wayBack = new URLSearchParams({ to });
	return ways.map(({ name, path }) => (
		<Button
			key={path}
			component="a"
			href={`${path}${path.includes("?") ? "&" : "?"}${wayBack}`}
		>
			Continue with {name}
		</Button>
	));
}
