import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { makeIdWithoutTenant } from "../id.ts";
import type { Change } from "../operation.ts";
import type { Role } from "../principal.ts";
import { type Step, userIdOf } from "./exchange.ts";

/** Ids for better-auth's tables: a user's is a typed id, nobody sees the others. */
export function makeIdentityId(model: string): string {
	return model === "user"
		? makeIdWithoutTenant("user")
		: randomBytes(24).toString("base64url");
}

export interface NewUser {
	email: string;
	name: string;
	/** Made by `hashPassword`; null means that nobody can sign in as the user yet. */
	passwordHash: string | null;
	/**
	 * How it is known that the account belongs to the address's owner: a command or the first set-up,
	 * or a link that was mailed. Absent for an account made with a link that others could see.
	 */
	addressProof?: "COMMAND" | "LINK";
}

/** The user with this address: the one there is, left as it is, or a new one. */
export async function createUser(
	client: PoolClient,
	user: NewUser,
): Promise<{ userId: string; isNew: boolean }> {
	const { rows } = await client.query<{ user_id: string; is_new: boolean }>(
		"select user_id, is_new from create_proven_user($1, $2, $3, $4, $5, $6)",
		[
			makeIdentityId("user"),
			user.email.toLowerCase(),
			user.name,
			makeIdentityId("account"),
			user.passwordHash,
			user.addressProof ?? null,
		],
	);
	const [row] = rows;
	if (!row) throw new Error("create_proven_user gave no row");
	return { userId: row.user_id, isNew: row.is_new };
}

/**
 * Makes a user a member of the organization of the transaction. Throws bad_request when
 * the user is one already.
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
			`${user.email} is a member of the organization already; updateMember, or \`assay user set-role\`, changes the role`,
		);
	}
	return memberChange(organizationId, user, { after: role });
}

/**
 * Returns an audit entry about a membership. A new one has no `before`, an ended one no `after`.
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
 * Returns a user by address or id, with the organizations, for any caller: the command line, and
 * steps before a sign-in. `pool` is that of assay_identity.
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
		group by u.id
		`,
		["id" in whose ? whose.id : whose.email.toLowerCase()],
	);
	return rows[0];
}

/** As `findUser`; throws not_found. */
export async function requireUser(
	pool: Pool,
	email: string,
): Promise<FoundUser> {
	const user = await findUser(pool, { email });
	if (user) return user;
	throw new AppError(
		"not_found",
		`there is no user ${email}; \`assay user create\` makes one`,
	);
}

/**
 * Gives a user another password, for which links that set one stop working, and signs the user
 * out everywhere, devices that need no code of the second factor included. `client` is one of
 * assay_identity.
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
 * Does what `storePassword` does, in its own transaction, on the command line. The operator of the
 * service vouches for the account's owner. `pool` is that of assay_identity.
 */
export async function setPassword(
	pool: Pool,
	userId: string,
	passwordHash: string,
): Promise<void> {
	await transaction(pool, {}, async (client) => {
		await proveAddress(client, userId);
		await storePassword(client, userId, passwordHash);
	});
}

/**
 * Records that the account belongs to the owner of its address. The first proof of an unproven
 * account revokes API tokens and takes away sessions, trusted devices and the second factor, which
 * somebody else may have made. Returns true for that first proof. `client` is one of
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

/** Deletes the user's reset links: somebody who has just chosen a password needs no older link. */
export const deleteResetLinks: Step = async (exchange) => {
	await exchange.parts.pool.query(
		"delete from account_links where user_id = $1",
		[userIdOf(exchange)],
	);
};
