import type { PoolClient, QueryResultRow } from "pg";
import { badCursor, isCount } from "../records/cursor.ts";
import {
	COUNTED,
	DEFAULT_PAGE_SIZE,
	type Page,
	totalOf,
} from "../records/list-pages.ts";

/** A list of entries of the audit log. Its SQL calls an entry `t`. */
interface EntryList {
	/** The list that a cursor belongs to. */
	cursorOf: string;
	columns: string;
	conditions: readonly string[];
	/** The parameters of the conditions. */
	values: readonly unknown[];
}

/** Reads one page of the entries that fulfill the conditions, newest first. */
export async function readEntries<Row extends QueryResultRow>(
	client: PoolClient,
	{ cursorOf, columns, conditions, values }: EntryList,
	input: { size?: number | undefined; cursor?: string | null | undefined },
): Promise<Page<Row & { sequence: number }>> {
	const size = input.size ?? DEFAULT_PAGE_SIZE;
	const after =
		typeof input.cursor === "string"
			? readCursor(input.cursor, cursorOf)
			: undefined;
	const matching = conditions.join(" and ");
	// The driver returns PostgreSQL's bigint as text.
	const { rows } = await client.query<Row & { sequence: string }>(
		`select t.sequence, ${columns}
		from audit_entries t
		where ${matching} ${after ? `and t.sequence < $${values.length + 2}` : ""}
		order by t.sequence desc
		limit $${values.length + 1}`,
		[...values, size + 1, ...(after ? [after.sequence] : [])],
	);
	const hasMore = rows.length > size;
	const count = async () => {
		const { rows } = await client.query<{ count: number }>(
			`select count(*)::int as count from (
				select from audit_entries t where ${matching} limit ${COUNTED + 1}
			) counted`,
			[...values],
		);
		return rows[0]?.count ?? 0;
	};
	const counted = after?.counted ?? (hasMore ? await count() : rows.length);
	const page = rows.slice(0, size);
	const last = page.at(-1);
	return {
		rows: page.map((row) => ({ ...row, sequence: Number(row.sequence) })),
		next_cursor:
			hasMore && last ? writeCursor(cursorOf, last.sequence, counted) : null,
		...totalOf(counted),
	};
}

function writeCursor(of: string, sequence: string, counted: number): string {
	return Buffer.from(JSON.stringify([of, sequence, counted])).toString(
		"base64url",
	);
}

function readCursor(
	text: string,
	cursorOf: string,
): { sequence: string; counted: number } {
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(text, "base64url").toString());
	} catch {
		throw badCursor();
	}
	const [of, sequence, counted] = Array.isArray(parts) ? parts : [];
	const isNumber =
		typeof sequence === "string" && /^[1-9]\d{0,17}$/.test(sequence);
	if (of !== cursorOf || !isNumber || !isCount(counted)) throw badCursor();
	return { sequence, counted };
}
