import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { InviteMember } from "../settings/invite-member.tsx";

/** Invites members, and says where people without an account belong. */
export function PeopleStep({ isDone }: { isDone: boolean }) {
	const { organizationId: org } = useOrganization();
	const [isInviting, setInviting] = useState(false);
	return (
		<Stack align="flex-start">
			<Button
				variant={isDone ? "default" : "filled"}
				onClick={() => setInviting(true)}
			>
				Invite a member
			</Button>
			<Text size="sm">
				To own records yourself, you need an entry with your e-mail address in
				the register People. Others who only own devices or records need no
				account. Add them in the register{" "}
				<TextLink
					underline="always"
					to="/o/$org/r/$kind"
					params={{ org, kind: "people" }}
				>
					People
				</TextLink>
				, or{" "}
				<TextLink
					underline="always"
					to="/o/$org/r/$kind/import"
					params={{ org, kind: "people" }}
				>
					import them
				</TextLink>{" "}
				from a spreadsheet.
			</Text>
			{isInviting && <InviteMember onClose={() => setInviting(false)} />}
		</Stack>
	);
}
