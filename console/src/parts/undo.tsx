import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { FailedRows } from "./failed-rows.tsx";
import { forEach } from "./for-each.ts";

/** How long the message stays, so that there is time to reach the button by keyboard too. */
const UNDO_MS = 30_000;

/** How an action on several rows is undone. */
export interface Undo<Row> {
	rows: readonly Row[];
	nameOf: (row: Row) => string;
	/** Undoes the action for one row. */
	request: (row: Row) => Promise<unknown>;
	/** Says what was undone, such as "3 risks have their former values again". */
	done: (count: number) => string;
	/** A message with the same id takes the place of the one before. */
	id?: string;
}

/**
 * Says what was done, and offers to undo it. The message outlives the page: the reader may undo
 * from another one. Rows that cannot be undone are named with the reason.
 */
export function showWithUndo<Row>(message: string, undo: Undo<Row>): void {
	const start = async () => {
		notifications.update({
			id,
			message: "Undoing …",
			loading: true,
			autoClose: false,
		});
		const { succeeded, failures } = await forEach(undo.rows, ([row]) =>
			undo.request(row as Row),
		);
		const done = undo.done(succeeded.length);
		if (failures.length === 0) {
			notifications.update({
				id,
				message: done,
				loading: false,
				autoClose: true,
			});
			return;
		}
		notifications.update({
			id,
			color: "red",
			title: `${failures.length.toLocaleString()} could not be undone`,
			message: (
				<Stack gap={4}>
					<FailedRows failures={failures} nameOf={undo.nameOf} />
					{succeeded.length > 0 && <Text size="sm">{done}</Text>}
				</Stack>
			),
			loading: false,
			autoClose: false,
		});
	};
	if (undo.id) notifications.hide(undo.id);
	const id = notifications.show({
		...(undo.id ? { id: undo.id } : {}),
		autoClose: UNDO_MS,
		message: (
			<Group justify="space-between" wrap="nowrap">
				{message}
				{/* A long message wraps, and the button keeps its width. */}
				<Button
					flex="none"
					variant="default"
					size="compact-sm"
					onClick={() => void start()}
				>
					Undo
				</Button>
			</Group>
		),
	});
}
