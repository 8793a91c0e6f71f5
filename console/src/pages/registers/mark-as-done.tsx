import { Button } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { fieldOf } from "../../kinds.ts";
import { sentenceOf } from "../../parts/error-state.tsx";
import { showFailure } from "../../parts/show-failure.ts";
import { type Cell, useCellSaving } from "./save-cell.tsx";

const DONE = "DONE";

/** Finishes a task with one click, and offers to undo it. Shows nothing for other records. */
export function MarkAsDone({ kind, record }: Omit<Cell, "field">) {
	const field = fieldOf(kind, "state");
	if (kind.kind !== "task" || !field || record.state === DONE) return null;
	return <Finish kind={kind} record={record} field={field} />;
}

function Finish(cell: Cell) {
	const saving = useCellSaving(cell, () => {});
	return (
		<Button
			variant="default"
			leftSection={<IconCheck size={16} aria-hidden />}
			loading={saving.isPending}
			onClick={() =>
				saving.mutate(DONE, {
					onError: (error) =>
						showFailure("Not marked as done", sentenceOf(error)),
				})
			}
		>
			Mark as done
		</Button>
	);
}
