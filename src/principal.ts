import { TENANT_PREFIX_LENGTH } from "./id.ts";

/**
 * Roles of a member of an organization, from the one that may do least to the one that may do most.
 */
export const ROLES = ["viewer", "member", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Membership {
	organizationId: string;
	role: Role;
}

/** Maximum length, in characters, of the name that a caller gives itself. Longer names are cut. */
export const MAX_CLIENT_LENGTH = 200;

/** The caller of a request and what the caller may do now. Every request resolves it again. */
export interface Principal {
	/** TOKEN is a user's API token. SYSTEM is somebody who may run commands on the server. */
	kind: "USER" | "TOKEN" | "SYSTEM";
	/** Null for the system. */
	userId: string | null;
	/** The user's name, as the audit log records it. */
	name: string;
	/** The API token of the request, with the scopes that narrow what its user may do. */
	token?: {
		id: string;
		name: string;
		isReadOnly?: boolean;
		/** The toolsets that the token may call. Undefined means all of them. */
		toolsets?: readonly string[];
	};
	/** The session of a user who signed in; an API token has none. */
	sessionId?: string;
	/** The name that the caller gives itself, such as the name of an MCP client or a User-Agent. */
	client?: string;
	address?: string;
	memberships: readonly Membership[];
}

/**
 * Returns the principal of the command line. It may do everything, because somebody who can run
 * commands on the server can also read the database's password.
 */
export function systemPrincipal(organizationId?: string): Principal {
	return {
		kind: "SYSTEM",
		userId: null,
		name: "command line",
		memberships: organizationId ? [{ organizationId, role: "admin" }] : [],
	};
}

/** Returns true if `role` includes the permissions of the role `needed`. */
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

/** Returns the caller's membership in the organization that a record's id belongs to. */
export function membershipForRecord(
	principal: Principal,
	recordId: string,
): Membership | undefined {
	const prefix = recordId.slice(0, TENANT_PREFIX_LENGTH);
	return principal.memberships.find((membership) =>
		membership.organizationId.startsWith(prefix),
	);
}
