import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { UNDECIDED_NOTE } from "../../../../src/starters/undecided.ts";
import { call } from "../../api.ts";
import type { AnyRecord } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { sentenceOf } from "../../parts/error-state.tsx";
import { forgetReadings } from "../../queries.ts";

/**
 * Marks a suggested risk as decided. It keeps the treatment and the scores, and removes the note
 * that says that nobody has decided. Shows nothing for other records.
 */
export function DecideRisk({ record }: { record: AnyRecord }) {
	const { mayWriteKind } = useOrganization();
	const saving = useMutation({
		mutationFn: () =>
			call("updateRisk", {
				id: record.id,
				note: null,
				if_updated_at: record.updated_at,
			}),
		onSuccess: async () => {
			await forgetReadings();
			notifications.show({ message: "The risk is marked as decided." });
		},
		onError: async (error) => {
			notifications.show({ color: "red", message: sentenceOf(error) });
			await forgetReadings();
		},
	});
	if (record.note !== UNDECIDED_NOTE || !mayWriteKind("risk")) return null;
	return (
		<Button
			size="xs"
			variant="default"
			mt="xs"
			loading={saving.isPending}
			onClick={() => saving.mutate()}
		>
			Mark as decided
		</Button>
	);
}
