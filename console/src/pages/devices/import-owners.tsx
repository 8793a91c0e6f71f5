import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { ChooseCsv, WrongLines } from "../../parts/csv-choice.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { forgetReadings } from "../../queries.ts";
import { readChosenFile } from "../registers/import-file.ts";

/** Imports the owners of devices from a CSV file, after it has shown what would change. */
export function ImportOwners({
	organizationId,
	onClose,
}: {
	organizationId: string;
	onClose: () => void;
}) {
	const [csv, setCsv] = useState("");
	const [preview, setPreview] = useState<OutputOf<"importDeviceOwners">>();
	const checking = useMutation({
		mutationFn: async (file: File) => {
			setPreview(undefined);
			const { text } = await readChosenFile(file);
			setCsv(text);
			setPreview(
				await call("importDeviceOwners", {
					organization_id: organizationId,
					csv: text,
					dry_run: true,
				}),
			);
		},
	});
	const importing = useMutation({
		mutationFn: async () => {
			const { changed_device_ids: changed } = await call("importDeviceOwners", {
				organization_id: organizationId,
				csv,
			});
			await forgetReadings();
			notifications.show({ message: `Owners set: ${changed.length}.` });
			onClose();
		},
	});
	const changes = preview?.changed_device_ids.length ?? 0;
	const problems = preview?.problems ?? [];
	const empty = preview?.lines_without_owner.length ?? 0;
	const unchanged = (preview?.unchanged_device_ids.length ?? 0) + empty;
	return (
		<Modal
			opened
			onClose={onClose}
			size="lg"
			title="Import owners of devices"
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Stack>
				<Text size="sm">
					Choose a CSV file with the columns <b>device</b> (serial number,
					hostname or id) and <b>owner</b> (e-mail address of a person). A
					device whose owner is empty stays as it is; the word <b>nobody</b>{" "}
					removes the owner. Up to 500 lines.
				</Text>
				<ChooseCsv isReading={checking.isPending} onChoose={checking.mutate} />
				{checking.isError && (
					<ErrorState error={checking.error} title="The file cannot be read" />
				)}
				{importing.isError && (
					<ErrorState error={importing.error} title="Nothing was imported" />
				)}
				{preview && (
					<div role="status">
						<Text>
							{changes === 1 ? "1 device changes" : `${changes} devices change`}
							, {unchanged} stay as they are.
							{empty > 0 &&
								` ${empty === 1 ? "1 line has" : `${empty} lines have`} no owner.`}
						</Text>
						<WrongLines
							problems={problems.map(({ line, field, message }) => ({
								line,
								message: `${field}: ${message}`,
							}))}
						/>
					</div>
				)}
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose}>
						Cancel
					</Button>
					<Button
						disabled={changes === 0 || problems.length > 0}
						loading={importing.isPending}
						onClick={() => importing.mutate()}
					>
						Set the owners
					</Button>
				</Group>
			</Stack>
		</Modal>
	);
}
