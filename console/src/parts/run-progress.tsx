import { Progress as Bar, Text } from "@mantine/core";
import type { Progress } from "./for-each.ts";

/** Shows how many rows of a run are done. Renders nothing if it does not run. */
export function RunProgress({
	title,
	progress: { done, total, isRunning },
}: {
	/** The accessible name of the bar. */
	title: string;
	progress: Pick<Progress<unknown>, "done" | "total" | "isRunning">;
}) {
	if (!isRunning) return null;
	return (
		<div role="status">
			<Text size="sm" mb={4}>
				{done.toLocaleString()} of {total.toLocaleString()}
			</Text>
			<Bar aria-label={title} value={(100 * done) / total} />
		</div>
	);
}
