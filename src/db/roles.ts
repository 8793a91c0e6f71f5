/**
 * The roles of a database, called assay_app and so on in comments. No role owns a table, may log in
 * or bypasses row-level security.
 *
 * Roles belong to the whole PostgreSQL server, so each database has its own, named after it
 * (docs/decisions/0018). The catalogue knows which they are: each one has a policy of a fixed name.
 * The policy follows when the database or a role is renamed.
 */
const POLICIES = {
	/** The role of the service. */
	app: ["organizations", "tenant"],
	/** Owns the functions that devices call. */
	agent: ["organizations", "agent"],
	/** Reads the audit logs of all organizations, and nothing else. */
	audit: ["audit_heads", "audit"],
	/**
	 * Reads every row for a backup or an export. Adds rows only of the organization that an import
	 * names in `assay.importing`.
	 */
	backup: ["organizations", "backup"],
	/** The role of better-auth. No other role may read passwords and sessions. */
	identity: ["organizations", "identity"],
	/** Reads and erases what Assay keeps about a person. The service never uses this role. */
	privacy: ["organizations", "privacy"],
	/** Owns the function that searches records. */
	search: ["people", "search"],
} as const;

export type DatabaseRole = keyof typeof POLICIES;

export const DATABASE_ROLES = Object.keys(POLICIES) as DatabaseRole[];

/**
 * Returns an SQL expression for the name of this database's role. Its value is null until the role
 * has rights in the database.
 */
export function roleName(role: DatabaseRole): string {
	const [table, policy] = POLICIES[role];
	// Each of these policies is for one role. A join with pg_roles would take a millisecond more, and
	// every new connection asks this.
	return `(
		select pg_catalog.pg_get_userbyid(p.polroles[1])::text from pg_catalog.pg_policy p
		where p.polrelid = to_regclass('public.${table}') and p.polname = '${policy}'
	)`;
}

/**
 * Returns the statement that makes a connection act as a role of its database. With "transaction",
 * it applies only to the present transaction. "none" stands for the login itself. If the database
 * lacks the role, the statement fails, because a null would stand for the login.
 */
export function setRole(
	role: DatabaseRole | "none",
	until: "session" | "transaction" = "session",
): string {
	const isLocal = until === "transaction";
	if (role === "none") return isLocal ? "set local role none" : "set role none";
	return `select set_config('role', coalesce(${roleName(role)}, 'assay_${role} of this database'), ${isLocal})`;
}
