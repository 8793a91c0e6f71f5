import { TENANT_PREFIX_LENGTH } from "./id.ts";

/** Roles of a member of an organization. The first may do least, and the last may do most. */
export const ROLES = ["viewer", "member", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Membership {
	organizationId: string;
	role: Role;
	/** The toolsets of the only registers that the user may write. Undefined means all. */
	writableRegisters?: readonly string[];
	/** True if a viewer or member may read the audit log. */
	readsAuditLog?: boolean;
	/**
	 * True if the organization accepts only its identity provider, and the session reaches it because
	 * the user has an emergency account there.
	 */
	isEmergency?: boolean;
}

/**
 * An organization of the user that is suspended, that waits for its deletion, whose limits the
 * session exceeds, that accepts only its identity provider, or in which the membership has ended.
 */
export interface ClosedMembership {
	organizationId: string;
	/** The sentence that says so and why. */
	message: string;
	/**
	 * SESSION: a new sign-in reaches the organization. PROVIDER: a sign-in with its identity provider
	 * does. ENDED: the last day of the membership is over. Absent: nobody reaches it.
	 */
	why?: "SESSION" | "PROVIDER" | "ENDED";
	/** The identity providers that lead to the organization, if `why` is PROVIDER. */
	signInWays?: readonly SignInWay[];
}

/** An identity provider, and the path that leads a browser to it. */
export interface SignInWay {
	name: string;
	path: string;
}

/** The identity provider of an organization that vouched for the user of a session. */
export interface SessionProvider {
	id: string;
	organizationId: string;
	/**
	 * True if the session reaches only that organization. It reaches all organizations of the user if
	 * the user's address belongs to a verified domain of the provider's organization.
	 */
	isConfined: boolean;
}

/** Maximum length, in characters, of the name that a client gives itself. Longer names are cut. */
export const MAX_CLIENT_LENGTH = 200;

/**
 * The caller of a request, with the caller's current roles. It is determined again for every
 * request.
 */
export interface Principal {
	/** TOKEN is a user's API token. SYSTEM is somebody who may run commands on the server. */
	kind: "USER" | "TOKEN" | "SYSTEM";
	/** Id of the user. Null for a SYSTEM principal, unless it acts in the name of a user. */
	userId: string | null;
	/** The caller's name, as the audit log records it. */
	name: string;
	/** The API token of the request, with the scopes that limit its user's permissions. */
	token?: {
		id: string;
		name: string;
		isReadOnly?: boolean;
		/** The toolsets that the token may call. Undefined means all of them. */
		toolsets?: readonly string[];
	};
	/** The session of a signed-in user. Undefined for an API token. */
	sessionId?: string;
	/** Undefined if the user gave a password, or if the installation's provider vouched for them. */
	provider?: SessionProvider;
	/**
	 * The organization whose identity provider vouched for the user of the session. The installation's
	 * provider counts as one of the organization for which the domain of the user's address is verified.
	 */
	signInOrganizationId?: string;
	/**
	 * The name that the client gives itself, for example the name of an MCP client or a User-Agent.
	 */
	client?: string;
	address?: string;
	memberships: readonly Membership[];
	/** Organizations of the user that the caller does not reach. None is among the memberships. */
	closed?: readonly ClosedMembership[];
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

/**
 * Returns the caller's membership in the organization that a record belongs to, according to its
 * id.
 */
export function membershipForRecord(
	principal: Principal,
	recordId: string,
): Membership | undefined {
	return principal.memberships.find(ownerOf(recordId));
}

/** Returns the caller's closed organization that has this id, or to which a record with it belongs. */
export function closedOrganizationOf(
	{ closed }: Principal,
	id: string,
): ClosedMembership | undefined {
	return closed?.find(ownerOf(id));
}

const ownerOf =
	(id: string) =>
	({ organizationId }: { organizationId: string }) =>
		organizationId.startsWith(id.slice(0, TENANT_PREFIX_LENGTH));
