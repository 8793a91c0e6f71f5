import { hash } from "node:crypto";
import { Client, type ClientConfig, type Pool } from "pg";
import type { Logger } from "pino";
import { DELETION_LOCK } from "../db/advisory-locks.ts";
import { setRole } from "../db/roles.ts";
import { sessionOf } from "../db/server-sessions.ts";
import { FOREIGN_KEY_VIOLATION } from "../db/sqlstate.ts";

/** Number of rows that are deleted in a transaction, for which writers of the table wait. */
const BATCH_SIZE = 2_000;

const DELETED = `select number::integer, organization_id, name, reason,
	to_char(closed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as closed_at,
	to_char(deleted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as deleted_at,
	last_sequence::integer, encode(last_hash, 'hex') as last_hash,
	encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash
from deleted_organizations order by number`;

/** `previous_hash` of the first row. */
const NO_HASH = Buffer.alloc(32);

const SESSION = sessionOf("none", {
	lock_timeout: "500ms",
	statement_timeout: "60s",
	timezone: "UTC",
});

/** What stays of a deleted organization. Times are in RFC 3339, hashes in hexadecimal digits. */
export interface DeletedOrganization {
	number: number;
	organization_id: string;
	name: string;
	reason: string;
	closed_at: string;
	deleted_at: string;
	/** The last number and hash of the organization's audit log. Null without any sealed entry. */
	last_sequence: number;
	last_hash: string | null;
	previous_hash: string;
	hash: string;
}

interface Due {
	organization_id: string;
	name: string;
	reason: string;
	began_at: string;
}

/**
 * Deletes the organizations whose time of grace is over, with everything in them. Acts as the owner
 * of the tables, because no role of the service may delete entries of an audit log. An interrupted
 * deletion goes on with the next call, and what is deleted partly cannot be restored any more. Rejects
 * after the running batch if `signal` aborts.
 *
 * Row-level security binds the owner too. It is switched off for one table at a time, within the
 * transaction that deletes a batch of its rows.
 */
export async function deleteDueOrganizations(
	connection: ClientConfig,
	log: Logger,
	signal?: AbortSignal,
): Promise<void> {
	const client = new Client({
		...connection,
		application_name: "assay deletion",
		connectionTimeoutMillis: 5_000,
		query_timeout: 65_000,
	});
	// The connection may be lost between two queries. Without a listener, this event would then end
	// the process.
	client.on("error", () => {});
	try {
		await client.connect();
		await client.query(SESSION);
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_lock($1) as ours",
			[DELETION_LOCK],
		);
		if (!rows[0]?.ours) return;
		for (const due of await findDue(client)) {
			const id = due.organization_id;
			if (await hasUnsealedEntries(client, id)) continue;
			log.warn({ organization: id }, "an organization is being deleted");
			await deleteRows(client, id, signal);
			const { number, last_sequence } = await finish(client, due);
			log.warn(
				{ organization: id, number, last_sequence },
				"an organization was deleted; `assay org deleted` lists what stays",
			);
		}
	} finally {
		await client.end();
	}
}

/** Runs a query as a role that sees all organizations. */
async function queryAs<Row extends object>(
	client: Client,
	role: "identity" | "audit",
	text: string,
	values: unknown[] = [],
): Promise<Row[]> {
	await client.query("begin read only");
	try {
		await client.query(setRole(role, "transaction"));
		return (await client.query<Row>(text, values)).rows;
	} finally {
		await client.query("rollback");
	}
}

function findDue(client: Client): Promise<Due[]> {
	return queryAs(
		client,
		"identity",
		`select organization_id, name, reason, to_json(began_at) #>> '{}' as began_at
		from list_closed_organizations() where is_due`,
	);
}

/** Entries get their number and hash soon after they were written. Only then they may go. */
async function hasUnsealedEntries(
	client: Client,
	organizationId: string,
): Promise<boolean> {
	const rows = await queryAs(
		client,
		"audit",
		`select from audit_entries e
		where e.organization_id = $1 and not exists (
			select from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
		)
		limit 1`,
		[organizationId],
	);
	return rows.length > 0;
}

interface Table {
	name: string;
	isForced: boolean;
}

/** The tables whose rows say that the organization was there. They are emptied last, together. */
const LAST = ["organization_closures", "audit_heads"];

/**
 * Deletes the rows of all other tables. A table to whose rows others still refer waits for the next
 * round.
 */
async function deleteRows(
	client: Client,
	organizationId: string,
	signal?: AbortSignal,
): Promise<void> {
	const { rows } = await client.query<Table>(
		`select c.oid::regclass::text as name, c.relforcerowsecurity as "isForced"
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
			and c.relname <> all ($1) and c.relname <> 'deleted_organizations'
		order by c.relname`,
		[LAST],
	);
	let left = rows;
	while (left.length > 0) {
		const waiting: Table[] = [];
		for (const table of left) {
			if (!(await emptyTable(client, table, organizationId, signal))) {
				waiting.push(table);
			}
		}
		if (waiting.length === left.length) {
			throw new Error(
				`rows of ${waiting.map(({ name }) => name).join(", ")} refer to each other`,
			);
		}
		left = waiting;
	}
}

/** Returns false if other rows still refer to rows of the table. */
async function emptyTable(
	client: Client,
	table: Table,
	organizationId: string,
	signal?: AbortSignal,
): Promise<boolean> {
	try {
		for (let deleted = BATCH_SIZE; deleted === BATCH_SIZE; ) {
			signal?.throwIfAborted();
			deleted = await withoutGuards(client, [table], async () => {
				const { rowCount } = await client.query(
					`delete from ${table.name} where ctid = any (array(
						select ctid from ${table.name} where organization_id = $1 limit ${BATCH_SIZE}
					))`,
					[organizationId],
				);
				return rowCount ?? 0;
			});
		}
		return true;
	} catch (error) {
		if ((error as { code?: string }).code === FOREIGN_KEY_VIOLATION) {
			return false;
		}
		throw error;
	}
}

/**
 * Triggers that act here too. One remembers that the database has held a device. Without it, the
 * devices of the only organization would get 503 forever, as in a wrong database. The other one
 * remembers which files of the archive must be deleted.
 */
const KEPT_TRIGGERS: Readonly<Record<string, string>> = {
	devices: "note_deleted_key",
	archive_files: "note_archive_leftover",
};

/**
 * Runs `work` in a transaction in which row-level security and our triggers do not bind the owner of
 * these tables. The triggers keep versions of deleted records and the last administrator.
 */
async function withoutGuards<Result>(
	client: Client,
	tables: readonly Table[],
	work: () => Promise<Result>,
): Promise<Result> {
	const alter = (action: string, force: string) =>
		tables
			.map(
				({ name, isForced }) =>
					`alter table ${name} ${action} trigger user${isForced ? `, ${force} row level security` : ""}`,
			)
			.join("; ");
	await client.query("begin");
	try {
		await client.query(alter("disable", "no force"));
		for (const { name } of tables) {
			const trigger = KEPT_TRIGGERS[name];
			if (trigger) {
				await client.query(`alter table ${name} enable trigger ${trigger}`);
			}
		}
		const result = await work();
		await client.query(alter("enable", "force"));
		await client.query("commit");
		return result;
	} catch (error) {
		await client.query("rollback");
		throw error;
	}
}

/** Deletes the organization itself, and writes what stays of it. */
async function finish(client: Client, due: Due): Promise<DeletedOrganization> {
	const id = due.organization_id;
	const [head] = await queryAs<{ sequence: string; hash: string }>(
		client,
		"audit",
		"select sequence, encode(hash, 'hex') as hash from audit_heads where organization_id = $1",
		[id],
	);
	const deleted = await queryAs<DeletedOrganization>(
		client,
		"identity",
		DELETED,
	);
	const last = deleted.at(-1);
	const tables = [...LAST, "deleted_organizations", "organizations"].map(
		(name) => ({ name, isForced: true }),
	);
	return withoutGuards(client, tables, async () => {
		const row: Omit<DeletedOrganization, "hash"> = {
			number: (last?.number ?? 0) + 1,
			organization_id: id,
			name: due.name,
			reason: due.reason,
			closed_at: new Date(due.began_at).toISOString(),
			deleted_at: new Date().toISOString(),
			last_sequence: Number(head?.sequence ?? 0),
			last_hash: head?.hash ?? null,
			previous_hash: last?.hash ?? NO_HASH.toString("hex"),
		};
		const written = { ...row, hash: hashOf(row) };
		await client.query(
			`insert into deleted_organizations (
				number, organization_id, name, reason, closed_at, deleted_at, last_sequence, last_hash,
				previous_hash, hash
			)
			values ($1, $2, $3, $4, $5, $6, $7, decode($8, 'hex'), decode($9, 'hex'), decode($10, 'hex'))`,
			[
				written.number,
				id,
				written.name,
				written.reason,
				written.closed_at,
				written.deleted_at,
				written.last_sequence,
				written.last_hash,
				written.previous_hash,
				written.hash,
			],
		);
		for (const name of LAST) {
			await client.query(`delete from ${name} where organization_id = $1`, [
				id,
			]);
		}
		await client.query("delete from organizations where id = $1", [id]);
		return written;
	});
}

/** Returns what stays of deleted organizations. The connection acts as assay_identity. */
export async function readDeletedOrganizations(
	db: Pick<Pool, "query">,
): Promise<DeletedOrganization[]> {
	return (await db.query<DeletedOrganization>(DELETED)).rows;
}

/**
 * Returns the number of the first row that was changed, or whose predecessor is missing. Returns
 * undefined if all is as it was written. `rows` begins with number 1.
 */
export function findTampered(
	rows: readonly DeletedOrganization[],
): number | undefined {
	let previous = NO_HASH.toString("hex");
	for (const [index, { hash: given, ...row }] of rows.entries()) {
		const isRight =
			row.number === index + 1 &&
			row.previous_hash === previous &&
			hashOf(row) === given;
		if (!isRight) return index + 1;
		previous = given;
	}
	return undefined;
}

/** Returns the SHA-256 of the values as a JSON array, in the order of the interface. */
function hashOf(row: Omit<DeletedOrganization, "hash">): string {
	const values = [
		row.number,
		row.organization_id,
		row.name,
		row.reason,
		row.closed_at,
		row.deleted_at,
		row.last_sequence,
		row.last_hash,
		row.previous_hash,
	];
	return hash("sha256", JSON.stringify(values));
}
