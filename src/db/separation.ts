import { type Client, escapeIdentifier } from "pg";
import { AppError } from "../errors.ts";
import { sharedName } from "./own-roles.ts";
import { DATABASE_ROLES, roleName } from "./roles.ts";

/** The rights that cross the border of this database. Superusers are never listed. */
export interface Separation {
	database: string;
	/** True when the login owns the database. */
	isOwner: boolean;
	/** Roles of older versions that still act as this database's roles. */
	shared: { own: string; shared: string }[];
	/** Other logins that can act as a role of this database. */
	members: string[];
	/**
	 * Other logins that may create roles. Empty from PostgreSQL 16 on, where such a login can no
	 * longer take any role.
	 */
	creators: string[];
	/** Other databases in which the roles of this one have rights. */
	reached: string[];
	/** Logins that may connect only because everyone may. */
	guests: string[];
	isOpenToAll: boolean;
}

const OWN = `array[${DATABASE_ROLES.map(roleName).join(", ")}]`;

export async function readSeparation(client: Client): Promise<Separation> {
	const { rows } = await client.query<Separation>(
		`
		with recursive own as (
			select r.oid from pg_roles r where r.rolname = any (${OWN})
		), member (oid) as (
			select m.member from pg_auth_members m where m.roleid in (select oid from own)
			union
			select m.member from pg_auth_members m join member on member.oid = m.roleid
			where member.oid <> quote_ident(current_user)::regrole
		), database as (
			select d.oid, d.datname, d.datdba, acl.grantee, d.datdba = me.oid or (not me.rolsuper and pg_has_role(d.datdba, 'usage')) as is_mine
			from pg_database d
			join pg_roles me on me.rolname = current_user
			left join lateral (
				select array_agg(a.grantee) as grantee
				from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a where a.privilege_type = 'CONNECT'
			) acl on true
			where d.datname = current_database()
		), other as (
			select r.* from pg_roles r
			where r.rolcanlogin and not r.rolsuper and r.rolname not in (current_user, session_user)
		)
		select
			d.datname::text as database,
			d.is_mine as "isOwner",
			coalesce(0::oid = any (d.grantee), false) as "isOpenToAll",
			array(
				select o.rolname::text from other o where o.oid in (select oid from member) order by 1
			) as members,
			array(
				select o.rolname::text from other o
				where o.rolcreaterole and current_setting('server_version_num')::integer < 160000 order by 1
			) as creators,
			array(
				select distinct x.datname::text from pg_shdepend s join pg_database x on x.oid = s.dbid
				where s.refclassid = 'pg_authid'::regclass and s.refobjid in (select oid from own)
					and s.dbid <> d.oid
				order by 1
			) as reached,
			array(
				select o.rolname::text from other o
				where 0::oid = any (d.grantee) and not pg_has_role(o.oid, d.datdba, 'usage')
					and not exists (
						select from unnest(d.grantee) g (oid)
						where g.oid <> 0 and pg_has_role(o.oid, g.oid, 'usage')
					)
				order by 1
			) as guests,
			coalesce((
				select jsonb_agg(jsonb_build_object('own', o.rolname, 'shared', s.rolname) order by s.rolname)
				from pg_auth_members m
				join pg_roles o on o.oid = m.roleid
				join pg_roles s on s.oid = m.member
				where m.roleid in (select oid from own) and s.rolname = any ($1)
			), '[]') as shared
		from database d`,
		[DATABASE_ROLES.map(sharedName)],
	);
	const [found] = rows;
	if (!found)
		throw new Error("the query for the logins of the database returned no row");
	return found;
}

/**
 * Ends what older versions shared with other databases. Afterwards only logins that were granted
 * the right to connect by name may connect. Throws a bad_request AppError if the login does not own
 * the database or if an administrator has to help.
 */
export async function separate(client: Client): Promise<void> {
	const before = await readSeparation(client);
	if (!before.isOwner) {
		throw new AppError(
			"bad_request",
			`the user in DATABASE_URL does not own the database ${before.database}, so its owner decides who may connect: revoke connect on database ${escapeIdentifier(before.database)} from public`,
		);
	}
	const statements = before.shared.map(revokeShared);
	if (before.isOpenToAll) {
		statements.push(
			`revoke connect on database ${escapeIdentifier(before.database)} from public;`,
		);
	}
	await client.query("begin");
	await client.query(statements.join("\n"));
	const { shared } = await readSeparation(client);
	// PostgreSQL only warns when somebody else made the grant.
	if (shared.length > 0) {
		await client.query("rollback");
		throw new AppError(
			"bad_request",
			`an administrator granted the roles of this database to those of older versions; ask the administrator to run: ${shared.map(revokeShared).join(" ")}`,
		);
	}
	await client.query("commit");
}

function revokeShared({ own, shared }: { own: string; shared: string }) {
	return `revoke ${escapeIdentifier(own)} from ${escapeIdentifier(shared)};`;
}
