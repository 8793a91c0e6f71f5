import { TENANT_PREFIX_LENGTH } from "./id.ts";

/** From the least to the most that a member of an organization may do. */
export const ROLES = ["viewer", "member", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Membership {
	organizationId: string;
	role: Role;
}

/** Longest text, in characters, that is kept of what a caller says it is. */
export const MAX_CLIENT_LENGTH = 200;

/** The caller, and what the caller may do now. Resolved again for every request. */
export interface Principal {
	/** TOKEN: a user's API token; SYSTEM: somebody who may run commands on the server. */
	kind: "USER" | "TOKEN" | "SYSTEM";
	/** Null for the system. */
	userId: string | null;
	/** The user's name, as the audit log keeps it. */
	name: string;
	/** The API token of the request, with the scopes that narrow what its user may do. */
	token?: {
		id: string;
		name: string;
		isReadOnly?: boolean;
		/** Undefined: all of them. */
		toolsets?: readonly string[];
	};
	/** The session of a user who signed in; an API token has none. */
	sessionId?: string;
	/** The name that the caller gives itself (an MCP client's name, a User-Agent). */
	client?: string;
	address?: string;
	memberships: readonly Membership[];
}

/**
 * Returns the principal of the command line. It may do everything, because its user can read the
 * database's password.
 */
export function systemPrincipal(organizationId?: string): Principal {
	return {
		kind: "SYSTEM",
		userId: null,
		name: "command line",
		memberships: organizationId ? [{ organizationId, role: "admin" }] : [],
	};
}

/** True when `role` may do what needs `needed`. */
export function roleReaches(role: Role, needed: Role): boolean {
	return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function membershipIn(
	principal: Principal,
	organizationId: string,
): Membership | undefined {
	return principal.memberships.find(
		(membership) => membership.organizationId === organizationId,
	);
}

/** The membership in the organization that a record's id belongs to. */
export function membershipForRecord(
	principal: Principal,
	recordId: string,
): Membership | undefined {
	const prefix = recordId.slice(0, TENANT_PREFIX_LENGTH);
	return principal.memberships.find((membership) =>
		membership.organizationId.startsWith(prefix),
	);
}
