import { Alert, Button, Group, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import { FailedRows } from "./failed-rows.tsx";
import { type PartRequest, useForEach } from "./for-each.ts";
import { useReturnFocus } from "./return-focus.ts";
import { RunProgress } from "./run-progress.tsx";
import type { Selection } from "./selection.ts";
import { showWithUndo, type Undo } from "./undo.tsx";

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
	rows = selection.rows,
	request,
	parts,
	isReady,
	onDone,
	kept,
	undo,
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
	/** The rows that the action concerns. By default, these are all selected rows. */
	rows?: readonly Row[];
	/** The request for one row. While there is no request, the button is disabled. */
	request?: ((row: Row) => Promise<unknown>) | undefined;
	/** Instead of it, a request for up to `size` rows. */
	parts?: { size: number; request: PartRequest<Row> | undefined };
	/** Returns false, and shows what is missing, if the action cannot start yet. */
	isReady?: () => boolean;
	/** Called when everything is done, instead of saying so, clearing the selection and closing. */
	onDone?: () => void;
	/**
	 * Returns the row as it is after the action. With it, the rows stay selected, so that the reader
	 * can go on with them.
	 */
	kept?: (row: Row) => Row;
	/** Returns how the action is undone for the rows that succeeded. The message then offers it. */
	undo?: (rows: readonly Row[]) => Omit<Undo<Row>, "nameOf">;
	onClose: () => void;
	isDangerous?: boolean;
}) {
	useReturnFocus();
	const { progress, run, stop } = useForEach<Row>();
	const requestPart: PartRequest<Row> | undefined =
		parts?.request ??
		(request && ((part) => Promise.all(part.map((row) => request(row)))));
	const start = async (send: PartRequest<Row>) => {
		const all = [...rows];
		const { succeeded, failures } = await run(all, send, parts?.size);
		const isComplete = succeeded.length === all.length;
		if (isComplete && onDone) return onDone();
		if (succeeded.length > 0) {
			const { nameOf } = selection;
			if (undo) {
				const how = { ...undo(succeeded), nameOf };
				showWithUndo(done(succeeded.length), how);
			} else if (failures.length === 0) {
				notifications.show({ message: done(succeeded.length) });
			}
		}
		if (!isComplete) selection.set(succeeded, false);
		else if (kept) selection.set(succeeded.map(kept), true);
		else selection.clear();
		if (failures.length === 0) onClose();
	};
	const isRunning = progress?.isRunning ?? false;
	const failures = isRunning ? [] : (progress?.failures ?? []);
	return (
		<Dialog opened onClose={onClose} isBusy={isRunning} title={title}>
			<Stack>
				{children}
				{progress && <RunProgress title={title} progress={progress} />}
				{failures.length > 0 && (
					<Alert
						color="red"
						variant="outline"
						role="alert"
						title={`${failures.length.toLocaleString()} failed and ${failures.length === 1 ? "is" : "are"} still selected`}
					>
						<FailedRows failures={failures} nameOf={selection.nameOf} />
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
						disabled={!requestPart || rows.length === 0}
						onClick={() =>
							requestPart && isReady?.() !== false && start(requestPart)
						}
					>
						{action}
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}
