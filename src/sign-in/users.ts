import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { makeIdWithoutTenant } from "../id.ts";
import type { Change } from "../operation.ts";
import type { Role } from "../principal.ts";
import { normalAddress } from "../records/mail-address.ts";
import { type Step, userIdOf } from "./exchange.ts";
import { removePasskeys } from "./passkeys/passkey-store.ts";

/**
 * Makes an id for a row of one of better-auth's tables. Users get a typed id. The ids of other rows
 * are never shown to anybody, so they are random text.
 */
export function makeIdentityId(model: string): string {
	return model === "user"
		? makeIdWithoutTenant("user")
		: randomBytes(24).toString("base64url");
}

export interface NewUser {
	email: string;
	name: string;
	/** Hash from `hashPassword`. With null, nobody can sign in as the user yet. */
	passwordHash: string | null;
	/**
	 * Proof that the account belongs to the owner of the address. COMMAND means that a command or the
	 * first set-up created the account. LINK means that its user followed a mailed link. The property
	 * is absent when the account was made with a link that other people could see.
	 */
	addressProof?: "COMMAND" | "LINK";
}

/** Creates a user. If a user with this address exists, returns that user unchanged. */
export async function createUser(
	client: PoolClient,
	user: NewUser,
): Promise<{ userId: string; isNew: boolean }> {
	const { rows } = await client.query<{ user_id: string; is_new: boolean }>(
		"select user_id, is_new from create_proven_user($1, $2, $3, $4, $5, $6)",
		[
			makeIdentityId("user"),
			normalAddress(user.email),
			user.name,
			makeIdentityId("account"),
			user.passwordHash,
			user.addressProof ?? null,
		],
	);
	const [row] = rows;
	if (!row)
		throw new Error("the database function create_proven_user returned no row");
	return { userId: row.user_id, isNew: row.is_new };
}

/**
 * Adds a user to the transaction's organization. Throws bad_request if the user is a member
 * already.
 */
export async function addMember(
	client: PoolClient,
	organizationId: string,
	user: { id: string; name: string; email: string },
	role: Role,
): Promise<Change> {
	const { rowCount } = await client.query(
		"insert into memberships (organization_id, user_id, role) values ($1, $2, $3) on conflict do nothing",
		[organizationId, user.id, role],
	);
	if (rowCount === 0) {
		throw new AppError(
			"bad_request",
			`${user.email} is already a member of the organization; change the role with updateMember or \`assay user set-role\``,
		);
	}
	return memberChange(organizationId, user, { after: role });
}

/**
 * Returns the audit log's description of a change to a membership. A new membership has no
 * `before`, and an ended one has no `after`.
 */
export function memberChange(
	organizationId: string,
	user: { id: string; name: string; email: string },
	role: { before?: Role; after?: Role },
): Change {
	return {
		kind: "member",
		id: user.id,
		name: user.name,
		fields:
			role.before && role.after
				? { role }
				: {
						role,
						email:
							role.after === undefined
								? { before: user.email }
								: { after: user.email },
					},
		organizationId,
	};
}

export interface FoundUser {
	id: string;
	name: string;
	email: string;
	memberships: { organization_id: string; role: Role }[];
}

/**
 * Returns the user with this address or id, including the memberships. The function checks no
 * permission, because the command line and the steps before a sign-in use it. `pool` connects as
 * assay_identity.
 */
export async function findUser(
	pool: Pool,
	whose: { email: string } | { id: string },
): Promise<FoundUser | undefined> {
	const { rows } = await pool.query<FoundUser>(
		`
		select u.id, u.name, u.email, coalesce(
			json_agg(json_build_object('organization_id', m.organization_id, 'role', m.role))
				filter (where m.organization_id is not null),
			'[]'
		) as memberships
		from users u left join memberships m on m.user_id = u.id
		where ${"id" in whose ? "u.id" : "u.email"} = $1
		group by u.id, u.name, u.email
		`,
		["id" in whose ? whose.id : normalAddress(whose.email)],
	);
	return rows[0];
}

/** Returns the user with this address, or throws not_found. Otherwise works like `findUser`. */
export async function requireUser(
	pool: Pool,
	email: string,
): Promise<FoundUser> {
	const user = await findUser(pool, { email });
	if (user) return user;
	throw new AppError(
		"not_found",
		`there is no user ${email}; \`assay user list\` lists an organization's users, and \`assay user create\` creates one`,
	);
}

/**
 * Stores a new password for a user. Links that set a password stop working. The user is signed out
 * everywhere, and devices that were trusted to skip the second factor have to ask for a code again.
 * `client` acts as assay_identity.
 */
export async function storePassword(
	client: PoolClient,
	userId: string,
	passwordHash: string,
): Promise<void> {
	await client.query(
		`insert into accounts as a (id, user_id, provider_id, account_id, password)
		values ($1, $2::text, 'credential', $2::text, $3)
		on conflict (provider_id, account_id)
		do update set password = excluded.password, updated_at = now()`,
		[makeIdentityId("account"), userId, passwordHash],
	);
	await client.query("delete from account_links where user_id = $1", [userId]);
	await client.query("delete from sessions where user_id = $1", [userId]);
	await client.query("delete from verifications where value = $1", [userId]);
}

/**
 * Stores a new password for the command line, in a transaction of its own. The operator's command
 * counts as proof that the account belongs to the owner of its address. The passkeys are removed,
 * because somebody else may have added them. `pool` connects as assay_identity.
 */
export async function setPassword(
	pool: Pool,
	userId: string,
	passwordHash: string,
): Promise<void> {
	await transaction(pool, {}, async (client) => {
		await proveAddress(client, userId);
		await removePasskeys(client, userId);
		await storePassword(client, userId, passwordHash);
	});
}

/**
 * Records that the account belongs to the owner of its address, and returns true if this is the
 * first proof. Somebody else may have used an unproven account. The first proof therefore revokes
 * its API tokens and removes its sessions, trusted devices and second factor. `client` acts as
 * assay_identity.
 */
export async function proveAddress(
	client: PoolClient,
	userId: string,
): Promise<boolean> {
	const { rows } = await client.query<{ is_first: boolean }>(
		"select prove_address($1, null) as is_first",
		[userId],
	);
	return rows[0]?.is_first ?? false;
}

/**
 * Deletes the user's reset links. A user who has just chosen a password does not need an older
 * link.
 */
export const deleteResetLinks: Step = async (exchange) => {
	await exchange.parts.pool.query(
		"delete from account_links where user_id = $1",
		[userIdOf(exchange)],
	);
};
