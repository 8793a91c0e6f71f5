import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { DateTime } from "../../../parts/time.tsx";
import { operationQuery } from "../../../queries.ts";
import { InviteMember } from "../../settings/invite-member.tsx";
import { type Signature, signedWay } from "./signed-by.ts";

/** Says how a person who has not signed can do so, and which links there are. */
export function SignerReach({
	signature: {
		reach,
		link_mailed_at,
		reminded_at,
		link_copied_at,
		link_copied_by_name,
	},
	sendsMail,
	mayCopy,
}: {
	signature: Signature;
	/** Undefined as long as it is not known whether the service sends mail. */
	sendsMail: boolean | undefined;
	/** True if the reader may make a link to sign. */
	mayCopy: boolean;
}) {
	if (reach === null || sendsMail === undefined) return null;
	const words: Record<typeof reach, ReactNode> = {
		ACCOUNT: "Has an account",
		LINK: link_mailed_at ? (
			<>
				No account: link by mail sent <DateTime value={link_mailed_at} />
			</>
		) : sendsMail ? (
			"No account, and no mail was sent"
		) : mayCopy && !link_copied_at ? (
			"No account and no mail: copy a link"
		) : (
			"No account and no mail"
		),
		SECRET: "No account, and no link shows a secret document",
		LEFT: "No account, and the contract has ended",
	};
	return (
		<Stack gap={0}>
			<Text size="sm">{words[reach]}</Text>
			{reminded_at && (
				<Text size="sm" c="dimmed">
					Reminded <DateTime value={reminded_at} />
				</Text>
			)}
			{reach === "LINK" && link_copied_at && (
				<Text size="sm" c="dimmed">
					Link copied by {link_copied_by_name}{" "}
					<DateTime value={link_copied_at} />
				</Text>
			)}
		</Stack>
	);
}

/** Says how somebody has signed. */
export function signedHow(signature: Signature) {
	const way = signedWay(signature);
	return signature.address ? `${way}, from ${signature.address}` : way;
}

/** Invites a person of the register as a viewer. The address is filled in. */
export function InviteSigner({
	personId,
	onClose,
}: {
	personId: string;
	onClose: () => void;
}) {
	const { data } = useQuery(operationQuery("getPeople", { id: personId }));
	if (!data) return null;
	return (
		<InviteMember
			viewer={data.people.primary_email_address}
			onClose={onClose}
		/>
	);
}
