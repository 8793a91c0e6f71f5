import { Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, asSentence } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, titleOf } from "../../kinds.ts";
import { Confirm } from "../../parts/confirm.tsx";
import {
	deleteRecord,
	recordQuery,
} from "../../parts/records/register-calls.ts";
import { capitalized } from "../../parts/records/use-kind.ts";
import { queryClient } from "../../queries.ts";
import { listOf } from "../../remembered-lists.ts";
import { UsedNow } from "./uses.tsx";

/** What goes with a record, besides its links, by the kind of the record. */
const GOES_WITH: Record<string, string> = {
	document:
		"Its texts, approvals and signatures go with it. “As of a date” still shows them on past days.",
	evidence: "Its file goes with it, also from past days.",
	framework:
		"Its approved statements of applicability go with it. The statement as of a past day still names its approval.",
	vendor: "Its reviews go with it.",
};

/**
 * Deletes a record after the reader confirms. If the server rejects the deletion, the dialog says
 * why and links to the records that use this one.
 */
export function DeleteRecord({
	kind,
	record,
	organizationId,
	opened,
	onClose,
}: {
	kind: KindDescription;
	record: AnyRecord;
	organizationId: string;
	opened: boolean;
	onClose: () => void;
}) {
	const [isRefused, setRefused] = useState(false);
	const navigate = useNavigate();
	const remove = async () => {
		try {
			await deleteRecord(kind, record.id);
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 400) throw error;
			setRefused(true);
			// The request has only one field, the id, so the error is shown without naming the field.
			const [reason] = error.fields;
			throw new ApiError(
				error.status,
				error.code,
				reason ? asSentence(reason.message) : error.message,
			);
		}
		notifications.show({ message: `${capitalized(kind.noun)} deleted` });
		await navigate({
			...listOf(organizationId, kind.kind),
			replace: true,
			ignoreBlocker: true,
		});
		queryClient.removeQueries({
			queryKey: recordQuery(kind, record.id).queryKey,
		});
		void queryClient.invalidateQueries();
	};
	return (
		<Confirm
			opened={opened}
			onClose={() => {
				onClose();
				setRefused(false);
			}}
			title={`Delete “${titleOf(kind, record)}”?`}
			action={`Delete the ${kind.noun}`}
			onConfirm={remove}
		>
			<Stack gap="xs">
				<Text size="sm">
					This cannot be undone. Its links to other records are deleted too, and
					the audit log keeps the last values.
				</Text>
				{GOES_WITH[kind.kind] && <Text size="sm">{GOES_WITH[kind.kind]}</Text>}
				{isRefused && (
					<UsedNow
						kind={kind.kind}
						id={record.id}
						organizationId={organizationId}
					/>
				)}
			</Stack>
		</Confirm>
	);
}
