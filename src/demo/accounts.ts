import { randomInt } from "node:crypto";
import type { Pool } from "pg";
import { appendChanges } from "../audit/log.ts";
import { withTenant } from "../db/pool.ts";
import { createOrganization } from "../organizations/organization-store.ts";
import { type Principal, type Role, systemPrincipal } from "../principal.ts";
import { hashPassword } from "../sign-in/password-hash.ts";
import { addMember, createUser } from "../sign-in/users.ts";
import {
	addressOf,
	type Employee,
	ORGANIZATION,
	PEOPLE,
} from "./organization/people.ts";

export interface Login {
	role: Role;
	name: string;
	email: string;
	password: string;
}

const LOGINS: readonly (readonly [Role, Employee])[] = [
	["admin", "jonas"],
	["member", "omar"],
	["viewer", "willem"],
];

/**
 * A further admin with a second factor. Nobody can sign in with this account. The list of members
 * shows it as an example of a user with a second factor.
 */
const SECURED: readonly [Role, Employee] = ["admin", "ada"];

/** Length of a password that is easy to read and type. It has 59 random bits. */
const PASSWORD_LENGTH = 12;
const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";

export interface LoginWithHash extends Login {
	passwordHash: string;
	hasSecondFactor: boolean;
}

/** Returns the users of the demonstration with new passwords. */
export async function makeLogins(): Promise<LoginWithHash[]> {
	const logins: LoginWithHash[] = [];
	for (const each of [...LOGINS, SECURED]) {
		const [role, key] = each;
		const name = PEOPLE.find(([one]) => one === key)?.[1] ?? key;
		const login = { role, name, email: addressOf(name), password: password() };
		logins.push({
			...login,
			// Passwords are hashed one at a time. On a busy machine, a hash that waits for others would
			// time out.
			passwordHash: await hashPassword(login.password),
			hasSecondFactor: each === SECURED,
		});
	}
	return logins;
}

/** Makes the organization, which has no records yet, and its members. */
export async function makeAccounts(
	pool: Pool,
	logins: readonly LoginWithHash[],
): Promise<{ organizationId: string; principals: Record<Role, Principal> }> {
	const organizationId = await createOrganization(pool, ORGANIZATION.name);
	const principals: Partial<Record<Role, Principal>> = {};
	for (const login of logins) {
		const { role, name } = login;
		const userId = await withTenant(pool, organizationId, async (client) => {
			const user = await createUser(client, {
				...login,
				addressProof: "COMMAND",
			});
			const change = await addMember(
				client,
				organizationId,
				{ ...login, id: user.userId },
				role,
			);
			await appendChanges(
				client,
				systemPrincipal(),
				"createUser",
				organizationId,
				[change],
			);
			return user.userId;
		});
		principals[role] ??= {
			kind: "USER",
			userId,
			name,
			memberships: [{ organizationId, role }],
		};
	}
	return { organizationId, principals: principals as Record<Role, Principal> };
}

function password(): string {
	const letters = Array.from(
		{ length: PASSWORD_LENGTH },
		() => LETTERS[randomInt(LETTERS.length)],
	).join("");
	return letters.replace(/(.{4})(?=.)/g, "$1-");
}
