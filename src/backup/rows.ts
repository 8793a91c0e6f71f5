import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import {
	countRows,
	END_OF_ROWS,
	line,
	type Manifest,
	type RowCounts,
} from "./format.ts";
import { atIntervals } from "./progress.ts";

/** A table of a file, and the query that reads its rows. */
export interface Source {
	name: string;
	columns: readonly string[];
	/** Query with these columns, in this order. */
	query: string;
}

/**
 * Yields the text of a file: the manifest, the rows of every table as COPY writes them, and the sums.
 * Counts the rows of each table in `rows`.
 */
export async function* readRows(
	client: Client,
	manifest: Manifest,
	sources: readonly Source[],
	rows: RowCounts,
	report: (text: string) => void,
): AsyncGenerator<Buffer> {
	yield line(manifest);
	const progress = atIntervals(report);
	for (const { name, columns, query } of sources) {
		yield line({ table: name, columns });
		let count = 0;
		// COPY can read a partitioned table only through a query.
		const copy = client.query(copyTo(`copy (${query}) to stdout`));
		for await (const text of copy as AsyncIterable<Buffer>) {
			count += countRows(text);
			yield text;
			progress(() => `${name}: ${count} rows so far`);
		}
		rows[name] = count;
		yield END_OF_ROWS;
		yield line({ rows: count });
		if (count > 0) report(`${name}: ${count} rows`);
	}
	const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
	yield line({ end: true, tables: sources.length, rows: total });
}
