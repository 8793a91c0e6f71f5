import { columnsFor, listedIn, type Row } from "../csv/columns.ts";
import { rowWriter, writePages } from "../csv/export.ts";
import type { Context } from "../operation.ts";
import { findOperation } from "../operations.ts";
import { MAX_PAGE_SIZE } from "../records/page-sizes.ts";
import { parseInput } from "../validation.ts";
import type { PackageScope, Subject } from "./scope.ts";

/** The source of all parts of a package: one organization, as it is at one moment. */
export interface Source {
	context: Context;
	scope: PackageScope;
	subject: Subject;
}

/** A file of a package. Its content is read once. */
export interface PackageFile {
	path: string;
	content: AsyncIterable<Buffer | string>;
	/** Returns the number of rows, once the content has been read. Undefined if it has no rows. */
	rows?: () => number;
}

/** The parameters of a query for what belongs to the period. */
export const inPeriod = ({ scope, subject }: Source) => [
	scope.organizationId,
	subject.begin,
	subject.end,
];

type Pages = AsyncIterable<Row[]>;

/** Makes a CSV file, as the console exports lists. */
export function csvFile(
	path: string,
	fields: readonly string[],
	pages: Pages,
): PackageFile {
	let rows = 0;
	async function* counted() {
		for await (const page of pages) {
			rows += page.length;
			yield page;
		}
	}
	const content = writePages(columnsFor(fields), counted());
	return { path, content, rows: () => rows };
}

/** Makes a CSV file of a whole list, as its operation returns it for each of the inputs. */
export function listFile(
	path: string,
	{ context, scope }: Source,
	name: string,
	inputs: readonly object[] = [{}],
): PackageFile {
	const operation = findOperation(name);
	const listed = operation && listedIn(operation);
	if (!operation || !listed) throw new Error(`${name} is not a list`);
	const { input, run } = operation;
	const { key, fields } = listed;
	const written = rowWriter(operation);
	async function* pages(): Pages {
		for (const given of inputs) {
			for (let cursor: string | null | undefined; cursor !== null; ) {
				const page = await run(
					context,
					parseInput(input, {
						organization_id: scope.organizationId,
						size: MAX_PAGE_SIZE,
						...given,
						...(cursor && { cursor }),
					}),
				);
				yield page[key].map(written);
				cursor = page.next_cursor;
			}
		}
	}
	return csvFile(path, fields, pages());
}

/** Makes a CSV file of what a query returns. `fields` are its columns. */
export function queryFile(
	path: string,
	source: Source,
	fields: readonly string[],
	query: string,
	values: readonly unknown[],
): PackageFile {
	return csvFile(path, fields, readQuery(source, query, values));
}

let cursors = 0;

/** Reads what a query returns, `size` rows at a time. */
export async function* readQuery<Found extends object = Row>(
	{ context: { client } }: Source,
	query: string,
	values: readonly unknown[],
	size = 500,
): AsyncGenerator<Found[]> {
	const name = `package_${++cursors}`;
	await client.query(`declare ${name} no scroll cursor for ${query}`, [
		...values,
	]);
	for (;;) {
		const { rows } = await client.query<Found>(`fetch ${size} from ${name}`);
		if (rows.length > 0) yield rows;
		if (rows.length < size) break;
	}
	await client.query(`close ${name}`);
}
