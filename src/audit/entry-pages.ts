import type { PoolClient, QueryResultRow } from "pg";
import { badCursor, isCount, requireSameList } from "../records/cursor.ts";
import { COUNTED, totalOf } from "../records/list-count.ts";
import type { Page } from "../records/list-pages.ts";
import { DEFAULT_PAGE_SIZE } from "../records/page-sizes.ts";

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
): Promise<Page<Row & { sequence: number | null }>> {
	const size = input.size ?? DEFAULT_PAGE_SIZE;
	const after =
		typeof input.cursor === "string"
			? readCursor(input.cursor, cursorOf)
			: undefined;
	const matching = conditions.join(" and ");
	// The driver returns PostgreSQL's bigint as text.
	const { rows } = await client.query<
		Row & { entry_id: string; sequence: string | null }
	>(
		`select t.id as entry_id, ${sealOf("s.sequence")} as sequence, ${columns}
		from audit_entries t
		where ${matching} ${after ? `and t.id < $${values.length + 2}` : ""}
		order by t.id desc
		limit $${values.length + 1}`,
		[...values, size + 1, ...(after ? [after.id] : [])],
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
		rows: page.map(({ entry_id, ...row }) => ({
			// The columns of the list are those of Row. TypeScript cannot take entry_id from a type that
			// it does not know.
			...(row as unknown as Row),
			sequence: row.sequence === null ? null : Number(row.sequence),
		})),
		next_cursor:
			hasMore && last ? writeCursor(cursorOf, last.entry_id, counted) : null,
		...totalOf(counted),
	};
}

/**
 * Returns SQL for a column of the seal `s` of the entry `t`. Its value is null until the entry is
 * sealed. A subquery, because a join would read seals that are on no page.
 */
export function sealOf(column: string): string {
	return `(
		select ${column} from audit_seals s
		where s.organization_id = t.organization_id and s.entry_id = t.id
	)`;
}

function writeCursor(of: string, id: string, counted: number): string {
	return Buffer.from(JSON.stringify([of, id, counted])).toString("base64url");
}

function readCursor(
	text: string,
	cursorOf: string,
): { id: string; counted: number } {
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(text, "base64url").toString());
	} catch {
		throw badCursor();
	}
	const [of, id, counted] = Array.isArray(parts) ? parts : [];
	if (typeof of !== "string") throw badCursor();
	requireSameList(of, cursorOf);
	const isNumber = typeof id === "string" && /^[1-9]\d{0,17}$/.test(id);
	if (!isNumber || !isCount(counted)) throw badCursor();
	return { id, counted };
}
