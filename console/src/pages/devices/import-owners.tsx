import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { MAX_LINES } from "../../../../src/csv/import-limits.ts";
import { MAX_DEVICES_OF_CALL } from "../../../../src/devices/fleet-limits.ts";
import { call, type OutputOf } from "../../api.ts";
import { ChooseCsv, WrongLines } from "../../parts/csv-choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { type Failure, useForEach } from "../../parts/for-each.ts";
import { RunProgress } from "../../parts/run-progress.tsx";
import { readChosenFile } from "../registers/import-file.ts";
import { countOwners } from "./use-fleet-call.ts";

/** The most reasons that the dialog lists. */
const MAX_NAMED = 10;

const TITLE = "Import owners of devices";

/**
 * Imports the owners of devices from a CSV file, after it has shown what would change. Each request
 * sends the whole file and names some of its lines, so that the server counts lines like the reader.
 */
export function ImportOwners({
	organizationId,
	onClose,
}: {
	organizationId: string;
	onClose: () => void;
}) {
	const [csv, setCsv] = useState("");
	const [preview, setPreview] = useState<OutputOf<"importDeviceOwners">>();
	/** The rows are the numbers of the lines. */
	const { progress, run, stop, reset } = useForEach<number>();
	const checking = useMutation({
		mutationFn: async (file: File) => {
			reset();
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
	const start = async (lastLine: number) => {
		// Line 1 has the headings.
		const lines = Array.from({ length: lastLine - 1 }, (_, index) => index + 2);
		let changed = 0;
		const { succeeded, failures } = await run(
			lines,
			async (part) => {
				const { changed_device_ids: ids } = await call("importDeviceOwners", {
					organization_id: organizationId,
					csv,
					first_line: part[0],
					last_line: part.at(-1),
				});
				changed += ids.length;
			},
			MAX_DEVICES_OF_CALL,
		);
		if (failures.length > 0) return;
		const message = `${countOwners(changed)} set.`;
		const isStopped = succeeded.length < lines.length;
		notifications.show({
			message: isStopped
				? `${message} You stopped before line ${succeeded.length + 2}.`
				: message,
		});
		onClose();
	};
	const isRunning = progress?.isRunning ?? false;
	const failures = isRunning ? [] : (progress?.failures ?? []);
	const changes = preview?.changed_device_ids.length ?? 0;
	const problems = preview?.problems ?? [];
	const empty = preview?.lines_without_owner.length ?? 0;
	const unchanged = (preview?.unchanged_device_ids.length ?? 0) + empty;
	return (
		<Dialog opened onClose={onClose} isBusy={isRunning} size="lg" title={TITLE}>
			<Stack>
				<Text size="sm">
					Choose a CSV file with the columns <b>device</b> (serial number,
					hostname or id) and <b>owner</b> (e-mail address of a person). A
					device whose owner is empty stays as it is; the word <b>nobody</b>{" "}
					removes the owner. The file may have up to{" "}
					{MAX_LINES.toLocaleString()} lines.
				</Text>
				<ChooseCsv
					isReading={checking.isPending || isRunning}
					onChoose={checking.mutate}
				/>
				{checking.isError && (
					<ErrorState error={checking.error} title="The file cannot be read" />
				)}
				{preview && (
					<div role="status">
						<Text>
							{changes === 1
								? "1 device changes"
								: `${changes.toLocaleString()} devices change`}
							,{" "}
							{unchanged === 1
								? "1 stays as it is"
								: `${unchanged.toLocaleString()} stay as they are`}
							.
							{empty > 0 &&
								` ${empty === 1 ? "1 line has" : `${empty.toLocaleString()} lines have`} no owner.`}
						</Text>
						<WrongLines
							problems={problems.map(({ line, field, message }) => ({
								line,
								message: `${field}: ${message}`,
							}))}
						/>
					</div>
				)}
				{progress && <RunProgress title={TITLE} progress={progress} />}
				<FailedLines failures={failures} />
				<Group justify="flex-end">
					<Button variant="default" onClick={isRunning ? stop : onClose}>
						{isRunning ? "Stop" : progress ? "Close" : "Cancel"}
					</Button>
					<Button
						disabled={!preview || changes === 0 || problems.length > 0}
						loading={isRunning}
						onClick={() => preview && start(preview.last_line)}
					>
						Set the owners
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}

/** Names the lines that were not imported, with the reasons. Renders nothing if there are none. */
function FailedLines({ failures }: { failures: readonly Failure<number>[] }) {
	if (failures.length === 0) return null;
	const reasons = [...Map.groupBy(failures, ({ reason }) => reason)];
	return (
		<Alert
			color="red"
			variant="outline"
			role="alert"
			title={`${failures.length === 1 ? "1 line was" : `${failures.length.toLocaleString()} lines were`} not imported`}
		>
			<List size="sm">
				{reasons.slice(0, MAX_NAMED).map(([reason, failed]) => (
					<List.Item key={reason}>
						{reason}
						{failed.length > 1 &&
							` (${failed.length.toLocaleString()} lines from line ${failed[0]?.row} on)`}
					</List.Item>
				))}
			</List>
			<Text size="sm" mt="xs">
				To try again, set the owners once more. Lines that are done change
				nothing.
			</Text>
		</Alert>
	);
}
