import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { authorize, invoke, type Services } from "../invoke.ts";
import type { AnyOperation } from "../operation.ts";
import {
	DEFAULT_TIME_ZONE,
	dayIn,
	readDay,
} from "../organizations/time-zone.ts";
import type { Principal } from "../principal.ts";
import { MAX_PAGE_SIZE } from "../records/page-sizes.ts";
import { recordKinds } from "../registers/all.ts";
import { type Column, columnsFor, listedIn, type Row } from "./columns.ts";
import { BYTE_ORDER_MARK, writeLine } from "./text.ts";

export interface Export {
	/**
	 * Name of the file with a date in the organization's time zone, such as
	 * `assay-risks-2026-11-21.csv`: that of `as_of`, or else today's. If a replica was read, it has the
	 * replica's moment in UTC, such as `assay-risks-2026-11-21T16-28-23Z.csv`.
	 */
	fileName: string;
	/** Yields the file page by page. The first page has already been read. */
	chunks: AsyncGenerator<string>;
}

export interface ExportOptions {
	requestId?: string;
	/** Exports only the rows with these ids. */
	ids?: readonly string[] | undefined;
	/** Finds the caller again before each further page, with the rights that the caller has then. */
	findCaller?: () => Promise<Principal>;
}

/**
 * Exports a whole list as CSV, filtered and ordered by `input`. Each page is read by a separate call
 * with the caller's rights, so a long list needs neither much memory nor a long transaction. A record that somebody changes meanwhile appears either in its old
 * or in its new state. Before anything is sent, throws the list's own errors, or not_found if the
 * operation is not a list with pages.
 */
export async function exportList(
	services: Services,
	principal: Principal,
	operation: AnyOperation | undefined,
	input: Record<string, unknown>,
	{ requestId, ids, findCaller = async () => principal }: ExportOptions = {},
): Promise<Export> {
	const listed = operation && listedIn(operation);
	if (!operation || !listed) {
		throw new AppError(
			"not_found",
			"there is no list at this address; use an address such as /api/console/export/listRisks.csv",
		);
	}
	const { key, fields } = listed;
	const readPage = async (cursor: string | null) => {
		const page: Row = await invoke(
			services,
			cursor === null ? principal : await findCaller(),
			operation,
			{ ...input, size: MAX_PAGE_SIZE, cursor },
			requestId,
		);
		return {
			rows: page[key] as Row[],
			next: page.next_cursor as string | null,
		};
	};
	const { as_of: asOf } = input;
	const day = typeof asOf === "string" ? asOf : undefined;
	const columns = columnsFor(fields);
	// Devices of the past are proof of a day, so each row says which moment it is about. A register
	// keeps the columns that an import reads.
	if (day !== undefined && key === "devices") {
		columns.unshift({ heading: "as_of", cell: () => day });
	}
	const written = rowWriter(operation);
	const wanted = ids && new Set(ids);
	const first = await readPage(null);
	async function* pages() {
		for (let page = first; ; page = await readPage(page.next)) {
			const rows = wanted
				? page.rows.filter(({ id }) => wanted.delete(String(id)))
				: page.rows;
			yield rows.map(written);
			if (page.next === null || wanted?.size === 0) return;
		}
	}
	const time =
		(day === undefined && momentOf(services)) ||
		(await dayOf(services, principal, operation, input, day));
	return {
		fileName: `assay-${key.replaceAll("_", "-")}-${time}.csv`,
		chunks: writePages(columns, pages()),
	};
}

function momentOf({ replicaReads }: Services): string | undefined {
	const moment = replicaReads?.moment;
	return moment && `${moment.slice(0, 19).replaceAll(":", "-")}Z`;
}

/**
 * Returns the date of the moment, or else today's, in the organization of the list. A list without
 * an organization has the day in UTC.
 */
async function dayOf(
	services: Services,
	principal: Principal,
	operation: AnyOperation,
	input: Record<string, unknown>,
	moment = new Date().toISOString(),
): Promise<string> {
	const membership = await authorize(services, principal, operation, input);
	return membership
		? withTenant(services.pool, membership.organizationId, (client) =>
				readDay(client, moment),
			)
		: dayIn(DEFAULT_TIME_ZONE, moment);
}

/** Returns a function that turns a row of a list into the row of its file. */
export function rowWriter({ name }: AnyOperation): (row: Row) => Row {
	const kind = recordKinds.find(({ tool }) => name === `list${tool.many}`);
	return (row) => kind?.csv?.write(row) ?? row;
}

/** Yields a table as CSV: first its headings, and then the rows of each page. */
export async function* writePages(
	columns: Column[],
	pages: AsyncIterable<Row[]>,
): AsyncGenerator<string> {
	yield BYTE_ORDER_MARK + writeLine(columns.map(({ heading }) => heading));
	for await (const rows of pages) yield writeRows(columns, rows);
}

function writeRows(columns: Column[], rows: Row[]): string {
	return rows
		.map((row) => writeLine(columns.map(({ cell }) => cell(row))))
		.join("");
}
