import { Button, type ButtonProps, Loader } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type OperationName, requestFile } from "../../api.ts";
import { inPast } from "../../past.ts";
import { saveFile } from "../../save-file.ts";
import { sentenceOf } from "../error-state.tsx";
import type { Selection } from "../selection.ts";
import { showFailure } from "../show-failure.ts";

/** Size in bytes from which the progress is shown. Smaller files arrive at once. */
const LARGE = 500_000;

/**
 * Downloads a list as a CSV file, with the filters and the order that are shown. The file is saved
 * only when it has arrived completely, because nobody would notice that a partial list is
 * incomplete. The download continues if the user leaves the page.
 */
export function ExportButton({
	operation,
	input,
	label = "Export CSV",
	...rest
}: Pick<ButtonProps, "size" | "disabled"> & {
	operation: OperationName;
	/** The input of the list operation. Its size and cursor are ignored. */
	input: Record<string, unknown>;
	label?: string;
}) {
	const [bytes, setBytes] = useState(0);
	const stop = useRef<AbortController>(null);
	const exporting = useMutation({
		mutationFn: async () => {
			setBytes(0);
			const controller = new AbortController();
			stop.current = controller;
			const file = await requestFile(
				`/api/console/export/${operation}.csv?${toQuery(inPast(operation, input as never))}`,
				{ signal: controller.signal, onProgress: setBytes },
			);
			saveFile(file.name, file.blob);
		},
		onError: (error) => {
			if (stop.current?.signal.aborted) return;
			showFailure("The list was not exported", sentenceOf(error));
		},
	});
	const { isPending } = exporting;
	const isLarge = isPending && bytes > LARGE;
	return (
		<Button
			variant="default"
			{...rest}
			leftSection={
				isPending ? (
					<Loader size={14} aria-hidden />
				) : (
					<IconDownload size={16} aria-hidden />
				)
			}
			style={{ fontVariantNumeric: "tabular-nums" }}
			onClick={() => {
				if (isLarge) stop.current?.abort();
				else if (!isPending) exporting.mutate();
			}}
		>
			{isLarge ? `Cancel the export (${inMegabytes(bytes)})` : label}
		</Button>
	);
}

/** Largest number of rows that the service exports by their ids. */
const MAX_SELECTED = 200;

/** Downloads the selected rows of a list. */
export function ExportSelected({
	operation,
	organizationId,
	selection,
}: {
	operation: OperationName;
	organizationId: string;
	selection: Pick<Selection<{ id: string }>, "rows">;
}) {
	const ids = selection.rows.map(({ id }) => id);
	const isTooMany = ids.length > MAX_SELECTED;
	return (
		<ExportButton
			operation={operation}
			input={{ organization_id: organizationId, ids: ids.join(",") }}
			label={
				isTooMany ? `Export CSV (at most ${MAX_SELECTED} rows)` : "Export CSV"
			}
			size="compact-sm"
			disabled={isTooMany}
		/>
	);
}

/**
 * Writes the input as a query string for the tool's endpoint. The names of nested values are joined
 * with a dot.
 */
export function toQuery(input: Record<string, unknown>): string {
	const query = new URLSearchParams();
	const add = (name: string, value: unknown) => {
		if (value === undefined) return;
		if (typeof value !== "object" || value === null) {
			query.append(name, String(value));
			return;
		}
		for (const [key, inner] of Object.entries(value)) {
			add(Array.isArray(value) ? name : `${name}.${key}`, inner);
		}
	};
	for (const [name, value] of Object.entries(input)) {
		if (name !== "size" && name !== "cursor") add(name, value);
	}
	return query.toString();
}

function inMegabytes(bytes: number): string {
	return new Intl.NumberFormat(undefined, {
		style: "unit",
		unit: "megabyte",
		maximumFractionDigits: 1,
	}).format(bytes / 1_000_000);
}
