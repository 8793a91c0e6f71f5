import type { PoolClient } from "pg";
import { FOREIGN_KEY_VIOLATION } from "../db/sqlstate.ts";
import { badFields } from "../errors.ts";
import type { Context } from "../operation.ts";
import type { AnyRecordKind } from "./kind.ts";

/**
 * Removes a record and its links. If other records still use it, throws a bad_request that lists
 * them.
 */
export async function removeRecord(
	{ client, membership: { organizationId } }: Context,
	kind: AnyRecordKind,
	id: string,
): Promise<void> {
	if (kind.kind === "people") await refuseMember(client, organizationId, id);
	await client.query("savepoint removal");
	try {
		await client.query(
			`delete from ${kind.table} where organization_id = $1 and id = $2`,
			[organizationId, id],
		);
	} catch (error) {
		if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION)
			throw error;
		await client.query("rollback to savepoint removal");
		const users = await usersOf(client, kind, organizationId, [id]);
		throw badFields([
			{
				field: "id",
				message: `the ${kind.noun} is still used (${users.get(id)}); change or delete what uses it first`,
			},
		]);
	}
}

/** Throws bad_request for the person of a member, who owns records as long as the member works. */
async function refuseMember(
	client: PoolClient,
	organizationId: string,
	id: string,
): Promise<void> {
	const members = await membersAmong(client, organizationId, [id]);
	if (members.size === 0) return;
	throw badFields([
		{
			field: "id",
			message:
				"the person is a member of the organization; remove the member first, or set the last day of the contract",
		},
	]);
}

/** Returns the ids of those people who are members of the organization. */
export async function membersAmong(
	client: PoolClient,
	organizationId: string,
	ids: readonly string[],
): Promise<Set<string>> {
	const { rows } = await client.query<{ id: string }>(
		`select p.id from people p
		join users u on lower(u.email) = lower(p.primary_email_address)
		join memberships m on m.organization_id = p.organization_id and m.user_id = u.id
		where p.organization_id = $1 and p.id = any($2)`,
		[organizationId, ids],
	);
	return new Set(rows.map(({ id }) => id));
}

/**
 * Counts the records that refer to each of these records and are not among them. Returns texts such
 * as "risks: 3, tasks: 1", and none for a record that nothing uses. The foreign keys that point to
 * the register's table say which tables to search.
 */
export async function usersOf(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	ids: readonly string[],
): Promise<Map<string, string>> {
	// A table of references stores only ids. Its comment in the database is the name of the register
	// that has the references, such as "assets".
	const { rows: keys } = await client.query<{
		table: string;
		column: string;
		label: string;
	}>(
		`select
			c.conrelid::regclass::text as table,
			a.attname as column,
			coalesce(obj_description(c.conrelid, 'pg_class'), c.conrelid::regclass::text) as label
		from pg_constraint c
		join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[2]
		where c.contype = 'f' and c.confrelid = $1::regclass and c.confdeltype = 'a'
		order by label`,
		[kind.table],
	);
	const counts = await Promise.all(
		keys.map(async ({ table, column, label }) => {
			const others = table === kind.table ? "and t.id <> all($2)" : "";
			const { rows } = await client.query<{ id: string; count: number }>(
				`select t.${column} as id, count(*)::int as count from ${table} t
				where t.organization_id = $1 and t.${column} = any($2) ${others}
				group by t.${column}`,
				[organizationId, ids],
			);
			return rows.map(({ id, count }) => ({
				id,
				text: `${label.replaceAll("_", " ")}: ${count}`,
			}));
		}),
	);
	const users = Map.groupBy(counts.flat(), ({ id }) => id);
	return new Map(
		[...users].map(([id, texts]) => [
			id,
			texts.map(({ text }) => text).join(", "),
		]),
	);
}
