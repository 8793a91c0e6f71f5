import {
	Alert,
	Button,
	Group,
	List,
	Modal,
	Progress,
	Stack,
	Text,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { useForEach } from "./for-each.ts";
import { useReturnFocus } from "./return-focus.ts";
import type { Selection } from "./selection.ts";

/** The most failures that the dialog names. */
const MAX_NAMED = 10;

/**
 * Asks before it repeats an action for every selected row. It shows the progress and can be
 * stopped. Rows that failed stay selected, and the dialog names them with the reason.
 */
export function BulkDialog<Row extends { id: string }>({
	title,
	children,
	action,
	done,
	selection,
	request,
	onClose,
	isDangerous = false,
}: {
	title: string;
	/** What will happen, or the controls that say what to do. */
	children: ReactNode;
	/** The label of the button. */
	action: string;
	/** Says what was done, such as "3 risks changed". */
	done: (count: number) => string;
	selection: Selection<Row>;
	/** The request for one row. While it is missing, the button is disabled. */
	request: ((row: Row) => Promise<unknown>) | undefined;
	onClose: () => void;
	isDangerous?: boolean;
}) {
	useReturnFocus();
	const { progress, run, stop } = useForEach<Row>();
	const { rows } = selection;
	const start = async (request: (row: Row) => Promise<unknown>) => {
		const all = [...rows];
		const failures = await run(all, request);
		if (failures.length > 0) {
			const failed = new Set(failures.map(({ row }) => row.id));
			selection.set(
				all.filter(({ id }) => !failed.has(id)),
				false,
			);
			return;
		}
		notifications.show({ message: done(all.length) });
		selection.clear();
		onClose();
	};
	const isRunning = progress?.isRunning ?? false;
	const failures = isRunning ? [] : (progress?.failures ?? []);
	return (
		<Modal
			opened
			onClose={isRunning ? () => {} : onClose}
			withCloseButton={!isRunning}
			title={title}
			closeButtonProps={{ "aria-label": "Close" }}
		>
			<Stack>
				{children}
				{progress?.isRunning && (
					<div role="status">
						<Text size="sm" mb={4}>
							{progress.done.toLocaleString()} of{" "}
							{progress.total.toLocaleString()}
						</Text>
						<Progress
							aria-label={title}
							value={(100 * progress.done) / progress.total}
						/>
					</div>
				)}
				{failures.length > 0 && (
					<Alert
						color="red"
						variant="outline"
						role="alert"
						title={`${failures.length.toLocaleString()} failed and ${failures.length === 1 ? "is" : "are"} still selected`}
					>
						<List size="sm">
							{failures.slice(0, MAX_NAMED).map(({ row, reason }) => (
								<List.Item key={row.id}>
									{selection.nameOf(row)}: {reason}
								</List.Item>
							))}
						</List>
						{failures.length > MAX_NAMED && (
							<Text size="sm">
								{(failures.length - MAX_NAMED).toLocaleString()} more failed.
							</Text>
						)}
					</Alert>
				)}
				<Group justify="flex-end">
					{isRunning ? (
						<Button variant="default" onClick={stop}>
							Stop
						</Button>
					) : (
						<Button variant="default" onClick={onClose}>
							{progress ? "Close" : "Cancel"}
						</Button>
					)}
					<Button
						{...(isDangerous ? { color: "red.9" } : {})}
						loading={isRunning}
						disabled={!request || rows.length === 0}
						onClick={() => request && start(request)}
					>
						{action}
					</Button>
				</Group>
			</Stack>
		</Modal>
	);
}
