import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../../audit/log.ts";
import { transaction, withTenant } from "../../db/pool.ts";
import { readClosure } from "../../organizations/closures.ts";
import { acceptForUser } from "../../organizations/join-by-invitation.ts";
import { requireOrganization } from "../../organizations/organization-store.ts";
import { addPersonOf } from "../../organizations/person-of-member.ts";
import type { Role } from "../../principal.ts";
import { emailSchema } from "../../records/text-schemas.ts";
import type { EventParts } from "../account-events.ts";
import {
	type Found,
	findLinked,
	linkAccount,
	nameOf,
	type Refusal,
	roleOf,
} from "../oidc/find-account.ts";
import type { Claims } from "../oidc/read-claims.ts";
import {
	addMember,
	createUser,
	type FoundUser,
	findUser,
	makeIdentityId,
} from "../users.ts";
import type { IdentityProviderRow } from "./identity-provider-store.ts";
import { isVerifiedDomain } from "./verified-domain.ts";

/**
 * Returns the account of a person whom the provider of an organization vouches for, or the reason
 * why there is none.
 *
 * All organizations share the users, and an organization's administrators decide what its provider
 * says. The provider may therefore vouch for an existing account only if the address is of a domain
 * that was verified for the organization. Otherwise it can only make accounts that nobody has yet,
 * and their sessions reach only this organization.
 */
export async function findMember(
	parts: EventParts,
	provider: IdentityProviderRow,
	claims: Claims,
): Promise<Found | Refusal> {
	const { pool } = parts;
	const organizationId = provider.organization_id;
	const parsed = emailSchema().safeParse(claims.email);
	if (!parsed.success) return "NO_ADDRESS";
	const email = parsed.data;
	if (!(claims.isEmailVerified ?? provider.trusts_addresses)) {
		return "UNVERIFIED_ADDRESS";
	}
	const linked = await findLinked(pool, provider.id, claims.subject);
	if (linked) {
		const user = await findUser(pool, { id: linked });
		const isReachable =
			user &&
			(isMember(user, organizationId) ||
				(await acceptInvitation(parts, organizationId, user)) ||
				(await isVerifiedDomain(pool, organizationId, user.email)));
		return isReachable
			? { userId: linked, isNewlyLinked: false }
			: "NOT_INVITED";
	}
	const isOwnAddress = await isVerifiedDomain(pool, organizationId, email);
	const known = await findUser(pool, { email });
	if (known) {
		if (!isOwnAddress) return "DOMAIN_NOT_VERIFIED";
		const found = await linkAccount(
			pool,
			provider.id,
			claims.subject,
			known.id,
		);
		if (typeof found !== "string" && !isMember(known, organizationId)) {
			await acceptInvitation(parts, organizationId, known);
		}
		return found;
	}
	return makeAccount(parts, provider, claims, { email, isOwnAddress });
}

function isMember(
	{ memberships }: Pick<FoundUser, "memberships">,
	organizationId: string,
): boolean {
	return memberships.some((one) => one.organization_id === organizationId);
}

/**
 * Makes an existing user a member, if an invitation is open. Returns false if there is none.
 */
async function acceptInvitation(
	{ pool, appPool }: EventParts,
	organizationId: string,
	user: { id: string; name: string; email: string },
): Promise<boolean> {
	const invitation = await findInvitation(pool, organizationId, user.email);
	if (!invitation) return false;
	await transaction(appPool, {}, (client) =>
		acceptForUser(client, invitation, user),
	);
	return true;
}

/**
 * Makes an account and links it, in one transaction. The account is a member by an invitation, or
 * with the role that the provider gives to newcomers.
 */
async function makeAccount(
	{ pool, appPool }: EventParts,
	provider: IdentityProviderRow,
	claims: Claims,
	{ email, isOwnAddress }: { email: string; isOwnAddress: boolean },
): Promise<Found | Refusal> {
	const { organization_id: organizationId } = provider;
	const invitation = await findInvitation(pool, organizationId, email);
	// Groups count only now, so a role that is guessed would stay.
	if (!invitation && !claims.groups) return "GROUPS_UNKNOWN";
	const role = roleOf(rolesOf(provider), claims.groups ?? []);
	if (!invitation && !role) return "NOT_INVITED";
	const person = { email, name: nameOf(claims, email) };
	return withTenant(appPool, organizationId, async (client) => {
		await requireOrganization(client, organizationId);
		if (await readClosure(client, organizationId)) return "ORGANIZATION_CLOSED";
		const { userId, isNew } = await createUser(client, {
			...person,
			passwordHash: null,
			...(isOwnAddress && { addressProof: "LINK" }),
		});
		// Another sign-in at the same moment has made the account.
		if (!isNew) return "TRY_AGAIN";
		await linkNewUser(client, userId, provider.id, claims.subject);
		const user = { id: userId, ...person };
		if (invitation) await acceptForUser(client, invitation, user);
		else if (role) await join(client, organizationId, user, role);
		return { userId, isNewlyLinked: true };
	});
}

async function join(
	client: PoolClient,
	organizationId: string,
	user: { id: string; email: string; name: string },
	role: Role,
): Promise<void> {
	await appendChanges(
		client,
		{ kind: "USER", userId: user.id, name: user.name, memberships: [] },
		"joinWithProvider",
		organizationId,
		[
			await addMember(client, organizationId, user, role),
			...(await addPersonOf(client, organizationId, user)),
		],
	);
}

/** Links a user who was created in this transaction. The role of the service can link nobody else. */
async function linkNewUser(
	client: PoolClient,
	userId: string,
	providerId: string,
	subject: string,
): Promise<void> {
	await client.query("select link_new_user($1, $2, $3, $4)", [
		makeIdentityId("account"),
		userId,
		providerId,
		subject,
	]);
}

/** Returns the roles that a provider gives to newcomers. */
export function rolesOf({
	role,
	group_roles,
}: Pick<IdentityProviderRow, "role" | "group_roles">) {
	return {
		role: role ?? undefined,
		roleOfGroup: new Map(Object.entries(group_roles)),
	};
}

/**
 * Returns the hash of an open invitation to the organization. It is the hash of the link that its
 * administrators have, and not of the mailed one, which would prove that the address is the user's.
 * There is none while the organization is closed.
 */
async function findInvitation(
	pool: Pool,
	organizationId: string,
	email: string,
): Promise<string | undefined> {
	const { rows } = await pool.query<{ hash: string }>(
		`select encode(token_hash, 'hex') as hash from invitations i
		where organization_id = $1 and email = $2
			and accepted_at is null and revoked_at is null and expires_at > now()
			and not exists (
				select from organization_closures c where c.organization_id = i.organization_id
			)
		order by created_at limit 1`,
		[organizationId, email],
	);
	return rows[0]?.hash;
}
