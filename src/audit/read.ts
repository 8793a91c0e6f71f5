import type { ClientBase, Pool } from "pg";
import { STORED_ENTRY, type StoredEntry } from "./entry.ts";

/**
 * Number of entries that are read at a time. An entry may contain about 100 KB of text before and
 * after a change. Reading few entries at a time limits the memory, however long the log is.
 */
const BATCH_SIZE = 200;

/**
 * Lists the ids of all organizations, because each has a log. Also lists ids of organizations of
 * which only entries or a head remain. Entries between two known ids are sought in the index, so a
 * log costs the same whether it is long or short. Only of unknown organizations are all entries read.
 */
export async function listLogs(database: Pool | ClientBase): Promise<string[]> {
	const { rows } = await database.query<{ id: string }>(`
		with known as (
			select organization_id::text collate "C" as id from audit_heads
			union
			select organization_id::text from audit_seals where sequence = 1
			union
			select id::text from organizations
		),
		gaps as (
			-- No id is before the empty text or after a tilde.
			select id as after, lead(id, 1, '~') over (order by id) as before from known
			union all
			select '', coalesce(min(id), '~') from known
		)
		select id from known
		union
		select e.id from gaps cross join lateral (
			select organization_id::text as id from audit_entries
			where organization_id > gaps.after and organization_id < gaps.before
			group by organization_id
		) e
		order by id`);
	return rows.map(({ id }) => id);
}

export interface Head {
	sequence: number;
	/** The hash in hexadecimal digits. */
	hash: string;
}

export interface Batch {
	entries: StoredEntry[];
	/** The head of the log at the moment when these entries were read. */
	head: Head | undefined;
	isLast: boolean;
}

/**
 * Reads the organization's sealed entries in batches, in the order of their numbers. From an entry
 * that was deleted, only the columns of its seal remain. `database` is a pool that acts as
 * assay_audit, or a client in a transaction of the organization. That client sees no other
 * organization.
 */
export async function* readLog(
	database: Pool | ClientBase,
	organizationId: string,
	between: {
		/** Number of an entry. The function reads only entries with a greater number. */
		after?: number | undefined;
		from?: string | undefined;
		until?: string | undefined;
	} = {},
): AsyncGenerator<Batch> {
	for (let after = String(between.after ?? 0); ; ) {
		const { rows } = await database.query<
			StoredEntry & { head_sequence: string | null; head_hash: string | null }
		>({
			name: "read_log",
			// Everything in one statement is read at the same moment. Meanwhile the service may be adding
			// entries.
			text: `
				select h.sequence::text as head_sequence, encode(h.hash, 'hex') as head_hash, n.*
				from (select) one
				left join audit_heads h on h.organization_id = $1
				left join lateral (
					select s.sequence as place, ${STORED_ENTRY}
					from audit_seals s
					left join audit_entries e
						on e.organization_id = s.organization_id and e.id = s.entry_id
					where s.organization_id = $1 and s.sequence > $2
						and ($3::timestamptz is null or e.at >= $3)
						and ($4::timestamptz is null or e.at < $4)
					order by s.sequence
					limit ${BATCH_SIZE}
				) n on true
				order by n.place`,
			values: [
				organizationId,
				after,
				between.from ?? null,
				between.until ?? null,
			],
		});
		const [first] = rows;
		const entries = rows.filter(({ sequence }) => sequence !== null);
		const isLast = entries.length < BATCH_SIZE;
		yield {
			entries,
			head:
				first?.head_sequence && first.head_hash !== null
					? { sequence: Number(first.head_sequence), hash: first.head_hash }
					: undefined,
			isLast,
		};
		if (isLast) return;
		after = entries.at(-1)?.sequence ?? after;
	}
}

export interface Unsealed {
	entries: number;
	/** Age of the oldest of them, in seconds. */
	oldestSeconds: number;
}

/** Counts the entries of a log that have no seal. Reads the whole log. */
export async function countUnsealed(
	database: Pool | ClientBase,
	organizationId: string,
): Promise<Unsealed> {
	const { rows } = await database.query<Unsealed>(
		`select count(*)::float8 as entries,
			coalesce(extract(epoch from clock_timestamp() - min(e.at)), 0)::float8 as "oldestSeconds"
		from audit_entries e
		left join audit_seals s on s.organization_id = $1 and s.entry_id = e.id
		where e.organization_id = $1 and s.entry_id is null`,
		[organizationId],
	);
	return rows[0] ?? { entries: 0, oldestSeconds: 0 };
}
