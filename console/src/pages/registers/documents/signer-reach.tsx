import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { StatusBadge } from "../../../parts/status-badge.tsx";
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

/** Says how somebody has signed, and whether another member could have got the link. */
export function SignedHow({ signature }: { signature: Signature }) {
	const { address, is_address_doubtful, requested_at } = signature;
	const way = signedWay(signature);
	return (
		<Stack gap={4} align="flex-start">
			<Text size="sm">{way}</Text>
			{address && (
				<Text size="sm" c="dimmed">
					From the network address {address}
				</Text>
			)}
			{is_address_doubtful && (
				<>
					<StatusBadge tone="warning" label="Check the address" />
					<Text size="sm" c="dimmed">
						A member without the role admin set it shortly before the person was
						asked, or later. The person was asked on{" "}
						<DateTime value={requested_at} />.
					</Text>
				</>
			)}
		</Stack>
	);
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
