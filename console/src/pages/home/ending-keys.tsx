import { Alert } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import type { Overview } from "./due-work.tsx";

/** Warns about enrollment keys that run out or have ended. `found` is null without the rights. */
export function EndingKeys({
	found,
}: {
	found: Overview["enrollment_keys_ending"];
}) {
	const { organizationId } = useOrganization();
	if (!found || found.running_out + found.ended === 0) return null;
	const { running_out: out, ended } = found;
	const parts = [
		out === 1 && "1 enrollment key runs out soon",
		out > 1 && `${out.toLocaleString()} enrollment keys run out soon`,
		ended === 1 && "1 enrollment key has ended",
		ended > 1 && `${ended.toLocaleString()} enrollment keys have ended`,
	].filter((part) => part !== false);
	return (
		<Alert
			color="orange"
			variant="outline"
			icon={<IconKey aria-hidden />}
			py="xs"
		>
			<TextLink
				to="/o/$org/devices/enrollment-keys"
				params={{ org: organizationId }}
				underline="always"
				inherit
			>
				{parts.join(", and ")}
			</TextLink>
			. Make a new key if a rollout goes on, and revoke the keys that nobody
			needs.
		</Alert>
	);
}
