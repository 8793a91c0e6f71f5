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
		const users = await usersOf(client, kind, organizationId, id);
		throw badFields([
			{
				field: "id",
				message: `the ${kind.noun} is still used (${users}); change or delete what uses it first`,
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
	const { rowCount } = await client.query(
		`select from people p
		join users u on lower(u.email) = lower(p.primary_email_address)
		join memberships m on m.organization_id = p.organization_id and m.user_id = u.id
		where p.organization_id = $1 and p.id = $2`,
		[organizationId, id],
	);
	if (rowCount === 0) return;
	throw badFields([
		{
			field: "id",
			message:
				"the person is a member of the organization; remove the member first, or set the last day of the contract",
		},
	]);
}

/**
 * Counts the records that refer to this one, and returns text such as "risks: 3, tasks: 1". The
 * foreign keys that point to the register's table say which tables to search.
 */
async function usersOf(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	id: string,
): Promise<string> {
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
			const { rows } = await client.query<{ count: number }>(
				`select count(*)::int as count from ${table} where organization_id = $1 and ${column} = $2`,
				[organizationId, id],
			);
			return { label, count: rows[0]?.count ?? 0 };
		}),
	);
	const users = counts
		.filter(({ count }) => count > 0)
		.map(({ label, count }) => `${label.replaceAll("_", " ")}: ${count}`);
	return users.join(", ");
}
