import { Button, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
	HOURS_BETWEEN,
	SIGN_DAYS,
} from "../../../../../src/documents/sign-limits.ts";
import { call, type OutputOf } from "../../../api.ts";
import { Confirm } from "../../../parts/confirm.tsx";
import { showFailure } from "../../../parts/show-failure.ts";
import { forgetReadings, operationQuery } from "../../../queries.ts";
import type { Signature } from "./signed-by.ts";
import type { Version } from "./statuses.ts";

/** Offers to mail the version again to everybody who has not signed it and can sign. */
export function RemindAll({ version }: { version: Version }) {
	const [isOpen, setOpen] = useState(false);
	const { data: counts } = useQuery(
		operationQuery("countSigners", { document_version_id: version.id }),
	);
	const count = (counts?.account ?? 0) + (counts?.link ?? 0);
	if (count === 0) return null;
	return (
		<>
			<Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
				Remind all
			</Button>
			<Confirm
				opened={isOpen}
				onClose={() => setOpen(false)}
				title="Remind all who have not signed?"
				action="Send the mails"
				isDangerous={false}
				onConfirm={() => remind({ document_version_id: version.id })}
			>
				<Text>
					{count === 1
						? "1 person has not signed and gets the mail"
						: `${count.toLocaleString()} people have not signed and get the mail`}{" "}
					again, unless they were asked or reminded in the last{" "}
					{HOURS_BETWEEN.ofAll} hours. A link in it works for {SIGN_DAYS} days
					from now.
				</Text>
			</Confirm>
		</>
	);
}

/** Mails the version again to one person. */
export function Remind({ signature }: { signature: Signature }) {
	const [isSending, setSending] = useState(false);
	const { document_version_id, signed_by, signer_name } = signature;
	if (!signed_by) return null;
	const send = async () => {
		setSending(true);
		try {
			await remind({ document_version_id, person_ids: [signed_by] });
		} catch (error) {
			showFailure("Not reminded", (error as Error).message);
		} finally {
			setSending(false);
		}
	};
	return (
		<Button
			variant="subtle"
			size="compact-sm"
			aria-label={`Remind ${signer_name}`}
			loading={isSending}
			onClick={send}
		>
			Remind
		</Button>
	);
}

async function remind(input: {
	document_version_id: string;
	person_ids?: string[];
}): Promise<void> {
	const done = await call("remindSigners", input);
	await forgetReadings();
	notifications.show({ message: whatHappened(done, !input.person_ids) });
}

function whatHappened(
	{ reminded_person_ids: { length }, more }: OutputOf<"remindSigners">,
	isAll: boolean,
): string {
	if (length === 0) {
		return isAll
			? `Nobody was reminded: everybody was asked or reminded in the last ${HOURS_BETWEEN.ofAll} hours.`
			: "Not reminded: the person was asked or reminded in the last hour.";
	}
	const reminded =
		length === 1
			? "1 person gets a mail"
			: `${length.toLocaleString()} people get a mail`;
	return more > 0
		? `${reminded}. Remind again for the other ${more.toLocaleString()}.`
		: reminded;
}
