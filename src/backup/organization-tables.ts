import { type Client, escapeIdentifier, escapeLiteral } from "pg";
import type { Source } from "./rows.ts";
import { CONTENTS_OF_FILES, columnList, type Table } from "./tables.ts";

/** What somebody may leave out of an export, because it may be most of the bytes. */
export const PARTS = {
	files: CONTENTS_OF_FILES,
	reports: ["posture_reports", "packed_posture_reports"],
};
export type Part = keyof typeof PARTS;

/**
 * Values that an export contains in place of the stored ones.
 *
 * - Keys of devices give access. A device without a key stays as it is, and enrolls anew.
 * - The other installation signs webhooks with its own secret. Two installations must not send the
 *   same news twice. An administrator switches them on again.
 */
export const REPLACED: Readonly<Record<string, Record<string, string>>> = {
	devices: { key_hash: "null" },
	webhooks: { is_enabled: "false", previous_secret_until: "null" },
	notification_channels: { is_enabled: "false" },
};

/** Conditions for the rows that an export contains. */
export const ONLY: Readonly<Record<string, string>> = {
	// Only the service's secret decrypts the address of a chat.
	notification_channels: "sealed_address is null",
	// A view with an owner belongs to a user of this installation.
	saved_views: "owner_id is null",
};

/** The table of a file that lists the members. It is no table of the database. */
export const MEMBERS = "members";
export const MEMBER_COLUMNS = [
	"email",
	"name",
	"role",
	"ends_on",
	"writable_registers",
	"reads_audit_log",
] as const;

/**
 * Returns the columns of exported tables that refer to rows that no export contains, as the id of an
 * enrollment key. An export has no value for them.
 */
export async function readDanglingColumns(
	client: Pick<Client, "query">,
): Promise<Map<string, string[]>> {
	const { rows } = await client.query<{ table: string; columns: string[] }>(`
		select f.conrelid::regclass::text as table, array_agg(a.attname::text) as columns
		from pg_constraint f
		join pg_policy own on own.polrelid = f.conrelid and own.polname = 'import'
		join pg_attribute a on a.attrelid = f.conrelid and a.attnum = any (f.conkey)
		where f.contype = 'f' and f.conparentid = 0 and a.attname <> 'organization_id'
			and not exists (
				select from pg_policy p where p.polrelid = f.confrelid and p.polname = 'import'
			)
		group by 1`);
	return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/** Returns the queries that read an organization, without the parts that are left out. */
export function organizationSources(
	tables: readonly Table[],
	dangling: ReadonlyMap<string, readonly string[]>,
	organizationId: string,
	leftOut: readonly Part[],
): Source[] {
	const emptied = leftOut.flatMap((part) => PARTS[part]);
	const id = escapeLiteral(organizationId);
	const sources = tables
		.filter(({ isExported }) => isExported)
		.map(({ name, columns }): Source => {
			const own = name === "organizations" ? "id" : "organization_id";
			const values = columns.map((column) =>
				dangling.get(name)?.includes(column)
					? "null"
					: (REPLACED[name]?.[column] ?? escapeIdentifier(column)),
			);
			return {
				name,
				columns,
				query: `select ${values.join(", ")} from ${escapeIdentifier(name)}
					where ${own} = ${id} and ${ONLY[name] ?? true} and ${!emptied.includes(name)}`,
			};
		});
	return [
		...sources,
		{
			name: MEMBERS,
			columns: MEMBER_COLUMNS,
			query: `select ${columnList(MEMBER_COLUMNS)} from memberships m join users u on u.id = m.user_id
				where m.organization_id = ${id} order by u.email`,
		},
	];
}
