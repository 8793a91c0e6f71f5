import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { endOfId } from "../../parts/devices/device-name.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { ReferencePicker } from "../../parts/records/reference-picker.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { forgetReadings } from "../../queries.ts";

type Left = OutputOf<"reassignRecords">["left"][number];

interface Props {
	personId: string;
	organizationId: string;
	/** What needs a decision, if the person has nothing that can be handed over. */
	decisions: readonly Left[];
}

/**
 * Hands over everything that a person owns or is assigned to another person. If that is nothing, it
 * only shows what needs a decision.
 */
export function HandOver(props: Props) {
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
			{isAsking && <Ask {...props} onClose={() => setAsking(false)} />}
		</>
	);
}

function Ask({
	personId,
	organizationId,
	decisions,
	onClose,
}: Props & { onClose: () => void }) {
	useReturnFocus();
	const [to, setTo] = useState<string | null>(null);
	const handing = useMutation({
		mutationFn: (to: string) => call("reassignRecords", { from: personId, to }),
		onSuccess: async ({ total, left }) => {
			const records = total === 1 ? "1 record" : `${total} records`;
			notifications.show({ message: `${records} handed over` });
			if (left.length > 0) return;
			await forgetReadings();
			onClose();
		},
	});
	const left = handing.data?.left ?? decisions;
	if (left.length > 0) {
		return (
			<Dialog key="left" opened onClose={onClose} title="What is left">
				<Text size="sm" mb="md">
					{handing.data
						? "The rest needs a decision:"
						: "This person owns nothing that can be handed over. Only this needs a decision:"}
				</Text>
				<LeftBehind left={left} organizationId={organizationId} />
				<Group justify="flex-end" mt="md">
					<Button onClick={onClose}>Close</Button>
				</Group>
			</Dialog>
		);
	}
	return (
		<Dialog opened onClose={onClose} title="Hand over to another person">
			<Stack>
				<Text size="sm">
					Everything that this person owns or is assigned, devices included,
					goes to the person whom you choose. If you are an administrator, so do
					the nonconformities that Assay will open for this person. The audit
					log records each change. Afterwards you see what still needs a
					decision.
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

const WORDS: Record<Left["as"], string> = {
	owner_of_nonconformities:
		"Owner of the nonconformities that Assay opens. An administrator changes that in the device policy:",
	approver: "Approves documents. Choose somebody else on their pages:",
	signer: "Is asked to sign. Withdraw the request, or ask somebody else:",
	claimed_owner:
		"Claimed owner of devices, which nobody has confirmed. Choose their owners:",
};

/** Lists what was not handed over because somebody has to decide about it. */
function LeftBehind({
	left,
	organizationId,
}: {
	left: readonly Left[];
	organizationId: string;
}) {
	// Reading the page again would remove the button, and with it this list.
	useEffect(() => () => void forgetReadings(), []);
	return (
		<Stack>
			{left.map(({ as, kind, count, records }) => (
				<section key={as} aria-label={WORDS[as]}>
					<Text size="sm" fw={500}>
						{WORDS[as]}
					</Text>
					<Stack gap={2} align="flex-start">
						{records.map((record) => (
							<LeftRecord
								key={record.id}
								kind={kind}
								record={record}
								organizationId={organizationId}
							/>
						))}
						{count > records.length && (
							<Text size="sm">
								and {(count - records.length).toLocaleString()} more
							</Text>
						)}
					</Stack>
				</section>
			))}
		</Stack>
	);
}

function LeftRecord({
	kind,
	record: { id, name },
	organizationId,
}: {
	kind: string;
	record: Left["records"][number];
	organizationId: string;
}) {
	if (kind !== "device_policy") {
		return (
			<RecordLink organizationId={organizationId} kind={kind} id={id}>
				{name ?? `Unnamed (${endOfId(id)})`}
			</RecordLink>
		);
	}
	return (
		<TextLink
			to="/o/$org/settings/device-policy"
			params={{ org: organizationId }}
			size="sm"
		>
			{name ?? id}
		</TextLink>
	);
}
