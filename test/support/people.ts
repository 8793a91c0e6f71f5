import { transaction, withTenant } from "../../src/db/pool.ts";
import { invoke, type Services } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import type { Operation } from "../../src/operation.ts";
import type { Principal, Role } from "../../src/principal.ts";
import {
	addMember,
	createUser,
	makeIdentityId,
} from "../../src/sign-in/users.ts";
import { insertApiToken } from "../../src/tokens/api-token-store.ts";
import { type Scopes, UNLIMITED } from "../../src/tokens/scopes.ts";
import type { TestDatabase } from "./database.ts";

export interface TestUser {
	id: string;
	name: string;
	email: string;
}

let made = 0;

/** Creates a user. If an organization is given, the user is a member of it. */
export async function makeUser(
	{ pool }: TestDatabase,
	membership?: { organizationId: string; role: Role },
	given: { email?: string; passwordHash?: string } = {},
): Promise<TestUser> {
	const name = `User ${++made}`;
	const email = given.email ?? `user-${made}@example.com`;
	return transaction(
		pool,
		{ organizationId: membership?.organizationId },
		async (client) => {
			const { userId } = await createUser(client, {
				email,
				name,
				passwordHash: given.passwordHash ?? null,
			});
			const user = { id: userId, name, email };
			if (membership) {
				const { organizationId, role } = membership;
				await addMember(client, organizationId, user, role);
			}
			return user;
		},
	);
}

export async function joinOrganization(
	{ pool }: TestDatabase,
	user: TestUser,
	organizationId: string,
	role: Role,
): Promise<void> {
	await withTenant(pool, organizationId, (client) =>
		addMember(client, organizationId, user, role),
	);
}

/** Creates an API token of the user. Returns the token's id and secret. */
export async function makeApiToken(
	{ pool }: TestDatabase,
	user: TestUser,
	given: { name?: string; expiresAt?: Date; scopes?: Partial<Scopes> } = {},
): Promise<{ id: string; token: string }> {
	const made = await transaction(pool, { userId: user.id }, (client) =>
		insertApiToken(client, {
			userId: user.id,
			name: given.name ?? "laptop",
			description: null,
			expiresAt: given.expiresAt ?? null,
			scopes: { ...UNLIMITED, ...given.scopes },
		}),
	);
	return { id: made.api_token.id, token: made.token };
}

/** Returns the principal of a user who has just signed in, with the user's current memberships. */
export async function signedIn(
	{ owner }: TestDatabase,
	user: TestUser,
): Promise<Principal> {
	const sessionId = makeIdentityId("session");
	await owner.query(
		"insert into sessions (id, user_id, token, expires_at) values ($1::text, $2, $1::text, now() + interval '1 day')",
		[sessionId, user.id],
	);
	const { rows } = await owner.query<{ organization_id: string; role: Role }>(
		"select organization_id, role from memberships where user_id = $1",
		[user.id],
	);
	return {
		kind: "USER",
		userId: user.id,
		name: user.name,
		sessionId,
		memberships: rows.map((row) => ({
			organizationId: row.organization_id,
			role: row.role,
		})),
	};
}

export function makeServices({ pool }: TestDatabase): Services {
	return {
		pool,
		log: makeLogger("silent"),
		baseUrl: "https://assay.example.com",
	};
}

/** Calls an operation as a signed-in user. */
export async function callAs<
	Input extends Operation["input"],
	Output extends Operation["output"],
>(
	database: TestDatabase,
	user: TestUser,
	operation: Operation<string, Input, Output>,
	input: unknown,
) {
	const principal = await signedIn(database, user);
	return invoke(makeServices(database), principal, operation, input);
}

/** Returns the entries of the organization's audit log, oldest first. */
export async function auditEntries(
	{ owner }: TestDatabase,
	organizationId: string,
): Promise<Record<string, unknown>[]> {
	const { rows } = await owner.query(
		"select * from audit_entries where organization_id = $1 order by id",
		[organizationId],
	);
	return rows;
}
