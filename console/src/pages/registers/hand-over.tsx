import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { ReferencePicker } from "../../parts/records/reference-picker.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { forgetReadings } from "../../queries.ts";

/** Hands over everything that a person owns or is assigned to another person. */
export function HandOver({
	personId,
	organizationId,
}: {
	personId: string;
	organizationId: string;
}) {
	const [isAsking, setAsking] = useState(false);
	return (
		<>
			<Button
				variant="default"
				size="compact-sm"
				onClick={() => setAsking(true)}
			>
				Hand over …
			</Button>
			{isAsking && (
				<Ask
					personId={personId}
					organizationId={organizationId}
					onClose={() => setAsking(false)}
				/>
			)}
		</>
	);
}

function Ask({
	personId,
	organizationId,
	onClose,
}: {
	personId: string;
	organizationId: string;
	onClose: () => void;
}) {
	useReturnFocus();
	const [to, setTo] = useState<string | null>(null);
	const handing = useMutation({
		mutationFn: (to: string) => call("reassignRecords", { from: personId, to }),
		onSuccess: async ({ total }) => {
			const records = total === 1 ? "1 record" : `${total} records`;
			notifications.show({ message: `${records} handed over` });
			await forgetReadings();
			onClose();
		},
	});
	return (
		<Dialog opened onClose={onClose} title="Hand over to another person">
			<Stack>
				<Text size="sm">
					Everything that this person owns or is assigned, devices included,
					goes to the person whom you choose. The audit log records each change.
				</Text>
				<ReferencePicker
					organizationId={organizationId}
					kind="people"
					label="New owner"
					placeholder="Type a name"
					required
					value={to}
					onChange={setTo}
					error={to === personId && "Choose another person."}
				/>
				{handing.isError && (
					<ErrorState error={handing.error} title="Nothing was handed over" />
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose}>
						Cancel
					</Button>
					<Button
						disabled={to === null || to === personId}
						loading={handing.isPending}
						onClick={() => to && handing.mutate(to)}
					>
						Hand over
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}
