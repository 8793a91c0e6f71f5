import { AppError } from "../errors.ts";
import { invoke, type Services } from "../invoke.ts";
import type { AnyOperation } from "../operation.ts";
import type { Principal } from "../principal.ts";
import { MAX_PAGE_SIZE } from "../records/list-pages.ts";
import { getRecordNames, MAX_NAMED } from "../records/name-lookup.ts";
import {
	type Column,
	columnsFor,
	idsIn,
	listedIn,
	type Row,
} from "./columns.ts";
import { BYTE_ORDER_MARK, writeLine } from "./text.ts";

export interface Export {
	/** For example `assay-risks-2026-11-21.csv`. */
	fileName: string;
	/** Yields the file page by page. The first page is already read. */
	chunks: AsyncGenerator<string>;
}

/**
 * Exports a whole list as CSV, filtered and ordered by `input`. Each page is a call of its own with
 * the caller's rights, so neither memory nor a transaction grows with the list. A record that
 * somebody changes meanwhile appears as it was or as it is. Before anything is sent, throws the
 * list's own errors, or not_found if there is no such list with pages.
 */
export async function exportList(
	services: Services,
	principal: Principal,
	operation: AnyOperation | undefined,
	input: Record<string, unknown>,
	requestId?: string,
): Promise<Export> {
	const listed = operation && listedIn(operation);
	if (!operation || !listed) {
		throw new AppError(
			"not_found",
			"there is no such list; name one as /api/console/export/listRisks.csv",
		);
	}
	const { key, fields } = listed;
	const readPage = async (cursor: string | null) => {
		const page: Row = await invoke(
			services,
			principal,
			operation,
			{ ...input, size: MAX_PAGE_SIZE, cursor },
			requestId,
		);
		return {
			rows: page[key] as Row[],
			next: page.next_cursor as string | null,
		};
	};
	const readNames = async (rows: Row[]) => {
		const organization = rows[0]?.organization_id;
		const ids = [...new Set(rows.flatMap((row) => idsIn(row, fields)))];
		const names = new Map<string, string>();
		for (let from = 0; organization && from < ids.length; from += MAX_NAMED) {
			const { records } = await invoke(
				services,
				principal,
				getRecordNames,
				{
					organization_id: organization,
					ids: ids.slice(from, from + MAX_NAMED),
				},
				requestId,
			);
			for (const { id, name } of records) names.set(id, name ?? "");
		}
		return names;
	};

	const columns = columnsFor(fields);
	const first = await readPage(null);
	async function* chunks() {
		yield BYTE_ORDER_MARK + writeLine(columns.map(({ heading }) => heading));
		for (let page = first; ; page = await readPage(page.next)) {
			yield writeRows(columns, page.rows, await readNames(page.rows));
			if (page.next === null) return;
		}
	}
	const day = new Date().toISOString().slice(0, 10);
	return {
		fileName: `assay-${key.replaceAll("_", "-")}-${day}.csv`,
		chunks: chunks(),
	};
}

function writeRows(
	columns: Column[],
	rows: Row[],
	names: ReadonlyMap<string, string>,
): string {
	return rows
		.map((row) => writeLine(columns.map(({ cell }) => cell(row, names))))
		.join("");
}
