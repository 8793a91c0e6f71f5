import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MAX_ASKED } from "../../../../../src/documents/sign-limits.ts";
import { MAX_PAGE_SIZE } from "../../../../../src/records/page-sizes.ts";
import { call, type InputOf, type OutputOf } from "../../../api.ts";
import { useOrganization } from "../../../organization.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorState } from "../../../parts/error-state.tsx";
import { ReferencesPicker } from "../../../parts/records/reference-picker.tsx";
import { useReturnFocus } from "../../../parts/return-focus.ts";
import { forgetReadings } from "../../../queries.ts";
import { HowTheySign } from "./how-they-sign.tsx";
import type { Version } from "./statuses.ts";

/** Asks people to sign a published version: all employees, or those whom the user chooses. */
export function AskToSign({
	version,
	isNew = false,
	onClose,
}: {
	version: Version;
	/** True if the version was published just now. All employees are then chosen already. */
	isNew?: boolean;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	const [isEverybody, setEverybody] = useState(isNew);
	const [chosen, setChosen] = useState<string[]>([]);
	const employees = useQuery({
		queryKey: ["listPeople", organizationId, "employees"],
		queryFn: ({ signal }) => readEmployees(organizationId, signal),
	}).data;
	useReturnFocus();
	const people = isEverybody ? (employees?.ids ?? []) : chosen;
	const count = people.length.toLocaleString();
	const asking = useMutation({
		mutationFn: () =>
			call("requestDocumentVersionSignature", {
				document_version_id: version.id,
				person_ids: people,
			}),
		onSuccess: async ({ asked_person_ids: { length } }) => {
			await forgetReadings();
			notifications.show({
				message:
					length === 0
						? "They were all asked before."
						: `${length === 1 ? "1 person is" : `${length.toLocaleString()} people are`} asked. The list shows how each can sign.`,
			});
			onClose();
		},
	});
	return (
		<Dialog
			opened
			onClose={onClose}
			title={
				isNew
					? `Version ${version.version_number} is published. Ask people to sign it?`
					: "Ask people to sign"
			}
		>
			<Stack>
				<Text size="sm">Who is asked already is not asked again.</Text>
				<Radio.Group
					label="Who signs"
					value={isEverybody ? "everybody" : "chosen"}
					onChange={(value) => setEverybody(value === "everybody")}
				>
					<Stack gap="xs" mt={4}>
						<Radio
							value="everybody"
							disabled={!employees || employees.isMore}
							label={
								employees?.isMore
									? `All employees (more than ${MAX_ASKED.toLocaleString()}; ask them with the tools)`
									: `All employees (${employees?.ids.length.toLocaleString() ?? "…"})`
							}
						/>
						<Radio value="chosen" label="Chosen people" />
					</Stack>
				</Radio.Group>
				{!isEverybody && (
					<ReferencesPicker
						organizationId={organizationId}
						kind="people"
						label="People"
						value={chosen}
						onChange={setChosen}
					/>
				)}
				{people.length > 0 && <HowTheySign version={version} people={people} />}
				{asking.isError && (
					<ErrorState error={asking.error} title="Nobody was asked" />
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose}>
						{isNew ? "Not now" : "Cancel"}
					</Button>
					<Button
						disabled={people.length === 0}
						loading={asking.isPending}
						onClick={() => asking.mutate()}
					>
						{people.length === 0
							? "Ask"
							: people.length === 1
								? "Ask 1 person"
								: `Ask ${count} people`}
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}

/** Reads the employees whose contract has not ended. */
async function readEmployees(
	organization_id: string,
	signal: AbortSignal,
): Promise<{ ids: string[]; isMore: boolean }> {
	const ids: string[] = [];
	let cursor: string | null = null;
	do {
		const page: OutputOf<"listPeople"> = await call(
			"listPeople",
			{
				organization_id,
				filter: { kind: "EMPLOYEE", exclude_contract_ended: true },
				size: MAX_PAGE_SIZE,
				cursor,
			} as InputOf<"listPeople">,
			{ signal },
		);
		ids.push(...page.people.map(({ id }) => id));
		cursor = page.next_cursor;
	} while (cursor !== null && ids.length < MAX_ASKED);
	return { ids, isMore: cursor !== null };
}
