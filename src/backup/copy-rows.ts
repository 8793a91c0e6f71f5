import { once } from "node:events";
import { finished } from "node:stream/promises";
import { type Client, escapeIdentifier } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { AppError } from "../errors.ts";
import type { BackupReader } from "./read.ts";
import { columnList, type Table } from "./tables.ts";

/**
 * Copies the rows of the reader's current table into a table of the database. Returns how many rows
 * arrived. People read `label`. If the database rejects the rows, `advice` says what to do.
 */
export async function copyRows(
	client: Client,
	{ name, columns }: Pick<Table, "name" | "columns">,
	reader: BackupReader,
	progress: (text: () => string) => void,
	label: string = name,
	advice = "use an empty database with the encoding UTF8 on PostgreSQL 15 or newer",
): Promise<number> {
	const copy = client.query(
		copyFrom(
			`copy ${escapeIdentifier(name)} (${columnList(columns)}) from stdin`,
		),
	);
	let failure: unknown;
	copy.once("error", (error) => {
		failure = error;
	});
	const done = finished(copy);
	done.catch(() => {});
	try {
		for await (const text of reader.data()) {
			if (failure) throw failure;
			if (!copy.write(text)) await once(copy, "drain");
			progress(() => `${label}: ${reader.rowsSoFar} rows so far`);
		}
		copy.end();
		await done;
		return copy.rowCount;
	} catch (error) {
		copy.destroy();
		await done.catch(() => {});
		// The database may reject the rows because the file is damaged. Reading to the end finds that
		// out, and then the damage is the error to report.
		if (!isAboutData(error)) throw error;
		await reader.drain();
		throw new AppError(
			"bad_request",
			`the file is intact, but the database rejects its rows of ${label} (${(error as Error).message}); ${advice}`,
			{ cause: error },
		);
	}
}

/**
 * Returns true for errors of PostgreSQL's classes 22 (data exception) and 23 (integrity constraint
 * violation).
 */
function isAboutData(error: unknown): boolean {
	return /^2[23]/.test(String((error as { code?: unknown }).code));
}
