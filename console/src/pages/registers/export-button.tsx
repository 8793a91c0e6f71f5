import type { OperationName } from "../../api.ts";

/** Downloads a list, as it is filtered and sorted, as a CSV file. */
export function ExportButton(_: {
	operation: OperationName;
	/** The list's input, without size and cursor. */
	input: Record<string, unknown>;
}) {
	return null;
}
