import type { Pool, PoolClient } from "pg";
import { appendChanges } from "../../audit/log.ts";
import type { Newcomers, OidcConfig } from "../../config/read-oidc.ts";
import { transaction, withTenant } from "../../db/pool.ts";
import { readClosure } from "../../organizations/closures.ts";
import { acceptForUser } from "../../organizations/join-by-invitation.ts";
import { requireOrganization } from "../../organizations/organization-store.ts";
import { addPersonOf } from "../../organizations/person-of-member.ts";
import { ROLES, type Role } from "../../principal.ts";
import { domainOf } from "../../records/mail-address.ts";
import { emailSchema, nameSchema } from "../../records/text-schemas.ts";
import type { EventParts } from "../account-events.ts";
import {
	addMember,
	createUser,
	findUser,
	makeIdentityId,
	proveAddress,
} from "../users.ts";
import type { Claims } from "./read-claims.ts";

/** Reasons why somebody whom the provider knows may not sign in. */
export type Refusal =
	/** The provider names no address, or the address has not the form of one. */
	| "NO_ADDRESS"
	/** The provider does not say that the address belongs to the person. */
	| "UNVERIFIED_ADDRESS"
	/** The provider may not vouch for addresses of this domain. */
	| "OTHER_DOMAIN"
	/** Nobody has invited the person. */
	| "NOT_INVITED"
	/** The organization that the person would join is suspended, or waits for its deletion. */
	| "ORGANIZATION_CLOSED"
	/** The account of this address belongs to another person at the provider. */
	| "OTHER_PERSON"
	/** An account has this address, and the organization's provider may not vouch for the domain. */
	| "DOMAIN_NOT_VERIFIED"
	/** Groups give newcomers their roles, and the provider could not say the person's groups. */
	| "GROUPS_UNKNOWN"
	/** Two sign-ins of the person came at the same moment. */
	| "TRY_AGAIN";

export interface Found {
	userId: string;
	/** True if the account was not linked to the provider before. */
	isNewlyLinked: boolean;
}

/** Largest number of open invitations that a new user accepts at the first sign-in. */
const MAX_INVITATIONS = 20;

/**
 * Returns the account of the person, or the reason why there is none. An account that is not linked
 * to the provider yet is found by its address. Otherwise a new account is made for somebody who was
 * invited, or who may join the organization of newcomers.
 */
export async function findAccount(
	parts: EventParts,
	config: OidcConfig,
	claims: Claims,
): Promise<Found | Refusal> {
	const parsed = emailSchema().safeParse(claims.email);
	if (!parsed.success) return "NO_ADDRESS";
	const email = parsed.data;
	if (!isVerified(config, claims)) return "UNVERIFIED_ADDRESS";
	if (!config.domains.includes(domainOf(email))) return "OTHER_DOMAIN";
	const linked = await findLinked(parts.pool, config.issuer, claims.subject);
	if (linked) return { userId: linked, isNewlyLinked: false };
	const known = await findUser(parts.pool, { email });
	const account = known
		? { userId: known.id }
		: await makeAccount(parts, config, claims, email);
	return typeof account === "string"
		? account
		: linkAccount(parts.pool, config.issuer, claims.subject, account.userId);
}

/** An address that the provider calls unverified is refused, whatever the settings say. */
function isVerified(config: OidcConfig, { isEmailVerified }: Claims): boolean {
	return isEmailVerified ?? config.trustsAddresses;
}

/** Returns the id of the user who is linked to this person at the provider. */
export async function findLinked(
	db: Pick<Pool | PoolClient, "query">,
	issuer: string,
	subject: string,
): Promise<string | undefined> {
	const { rows } = await db.query<{ user_id: string }>(
		"select user_id from accounts where provider_id = $1 and account_id = $2",
		[issuer, subject],
	);
	return rows[0]?.user_id;
}

/**
 * Links the account to the person at the provider. `issuer` is the issuer of the installation's
 * provider, or the id of an organization's provider. The provider vouches for the address, so this
 * proves that the account belongs to the address's owner. An account that is linked to another
 * person is refused: companies give the address of somebody who left to somebody new.
 */
export function linkAccount(
	pool: Pool,
	issuer: string,
	subject: string,
	userId: string,
): Promise<Found | Refusal> {
	return transaction(pool, {}, async (client) => {
		// Locks the account, so that two sign-ins at the same time do not link it twice.
		await client.query("select from users where id = $1 for update", [userId]);
		const { rows } = await client.query<{ account_id: string }>(
			"select account_id from accounts where user_id = $1 and provider_id = $2",
			[userId, issuer],
		);
		if (rows[0]) {
			return rows[0].account_id === subject
				? { userId, isNewlyLinked: false }
				: "OTHER_PERSON";
		}
		await client.query(
			"insert into accounts (id, user_id, provider_id, account_id) values ($1, $2, $3, $4)",
			[makeIdentityId("account"), userId, issuer, subject],
		);
		if (await proveAddress(client, userId)) {
			// Whoever made the account may know its password.
			await client.query(
				"delete from accounts where user_id = $1 and password is not null",
				[userId],
			);
		}
		return { userId, isNewlyLinked: true };
	});
}

/** Makes an account for somebody who may come in, or returns the reason why there is none. */
async function makeAccount(
	parts: EventParts,
	{ newcomers }: OidcConfig,
	claims: Claims,
	email: string,
): Promise<{ userId: string } | Refusal> {
	const person = { email, name: nameOf(claims, email) };
	const invitations = await findInvitations(parts.pool, email);
	if (invitations.length > 0) {
		return transaction(parts.appPool, {}, async (client) => {
			const user = await createProven(client, person);
			for (const hash of invitations) {
				await acceptForUser(client, hash, { ...person, id: user.userId });
			}
			return user;
		});
	}
	if (!newcomers) return "NOT_INVITED";
	// Groups count only now, so a role that is guessed would stay.
	if (!claims.groups) return "GROUPS_UNKNOWN";
	const role = roleOf(newcomers, claims.groups);
	if (!role) return "NOT_INVITED";
	const { organizationId } = newcomers;
	return withTenant(parts.appPool, organizationId, async (client) => {
		await requireOrganization(client, organizationId);
		if (await readClosure(client, organizationId)) return "ORGANIZATION_CLOSED";
		const { userId, isNew } = await createProven(client, person);
		// Another sign-in at the same moment has made the account.
		if (!isNew) return { userId };
		const user = { id: userId, ...person };
		await appendChanges(
			client,
			{ kind: "USER", userId, name: person.name, memberships: [] },
			"joinWithProvider",
			organizationId,
			[
				await addMember(client, organizationId, user, role),
				...(await addPersonOf(client, organizationId, person)),
			],
		);
		return { userId };
	});
}

function createProven(
	client: PoolClient,
	person: { email: string; name: string },
) {
	return createUser(client, {
		...person,
		passwordHash: null,
		addressProof: "LINK",
	});
}

/** Returns the name that the provider gives, or the first part of the address. */
export function nameOf({ name }: Claims, email: string): string {
	const parsed = nameSchema().safeParse(name);
	return parsed.success ? parsed.data : email.slice(0, email.indexOf("@"));
}

/** Returns the highest role that a group of the person gives, or the role of all newcomers. */
export function roleOf(
	{ role, roleOfGroup }: Pick<Newcomers, "role" | "roleOfGroup">,
	groups: readonly string[],
): Role | undefined {
	const given = new Set(groups.map((group) => roleOfGroup.get(group)));
	return ROLES.findLast((one) => given.has(one)) ?? role;
}

/**
 * Returns the hashes of the open invitations for an address, in hexadecimal digits. An invitation to
 * a closed organization waits until the organization is open again.
 */
async function findInvitations(pool: Pool, email: string): Promise<string[]> {
	const { rows } = await pool.query<{ hash: string }>(
		`select encode(coalesce(mailed_token_hash, token_hash), 'hex') as hash
		from invitations i
		where email = $1 and accepted_at is null and revoked_at is null and expires_at > now()
			and not exists (
				select from organization_closures c where c.organization_id = i.organization_id
			)
		order by created_at
		limit ${MAX_INVITATIONS}`,
		[email],
	);
	return rows.map(({ hash }) => hash);
}
