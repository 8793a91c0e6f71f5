import type { Pool } from "pg";
import { z } from "zod";
import { appendChanges } from "../audit/log.ts";
import { transaction } from "../db/pool.ts";
import { AppError, badFields } from "../errors.ts";
import { makeOrganizationId } from "../id.ts";
import { normalAddress } from "../records/mail-address.ts";
import { emailSchema, nameSchema } from "../records/text-schemas.ts";
import type { From } from "../sign-in/exchange.ts";
import { hashPassword } from "../sign-in/password-hash.ts";
import {
	passwordSchema,
	requireGoodPassword,
} from "../sign-in/password-rules.ts";
import { addMember, createUser } from "../sign-in/users.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
} from "../tokens/secret.ts";
import { COMMAND } from "../version.ts";
import { insertOrganization } from "./organization-store.ts";
import { addPersonOf } from "./person-of-member.ts";
import { timeZoneSchema } from "./time-zone.ts";

export const setupInput = z.strictObject({
	token: z.string(),
	organization_name: nameSchema(),
	time_zone: timeZoneSchema().optional(),
	name: nameSchema(),
	email: emailSchema(),
	password: passwordSchema,
});

/** Returns true while no user exists. The console then explains how to set up the service. */
export async function isSetupNeeded(pool: Pool): Promise<boolean> {
	const { rows } = await pool.query<{ found: boolean }>(
		"select has_users() as found",
	);
	return !rows[0]?.found;
}

/**
 * Makes a link that creates the first user. The link works once, for SETUP_LINK_HOURS, and replaces
 * every earlier link. Returns undefined if users exist already.
 *
 * The link's hash is stored in the database, so that every process of the service knows it. The
 * token follows the #. Browsers do not send that part of an address to a server.
 */
export async function makeSetupLink(
	pool: Pool,
	baseUrl: string,
): Promise<string | undefined> {
	const token = makeSecret("set");
	const { rows } = await pool.query<{ added: boolean }>(
		"select add_setup_link(decode($1, 'hex')) as added",
		[hashSecret(token)],
	);
	return rows[0]?.added ? `${baseUrl}/setup#${token}` : undefined;
}

/**
 * Returns the token's hash if its setup link can be used now. Otherwise throws bad_request with the
 * reason.
 */
export async function checkSetupLink(
	pool: Pool,
	token: string,
): Promise<string> {
	if (!(await isSetupNeeded(pool))) throw setUpAlready();
	if (!isWellFormedSecret("set", token)) {
		throw badFields([
			{
				field: "token",
				message:
					"must be the text after the # of a setup link; copy the whole link",
			},
		]);
	}
	const hash = hashSecret(token);
	const { rows } = await pool.query<{ is_usable: boolean }>(
		"select is_setup_link(decode($1, 'hex')) as is_usable",
		[hash],
	);
	if (!rows[0]?.is_usable) throw unusableLink();
	return hash;
}

/**
 * Creates the first user as admin of the first organization, with the link that the service
 * printed. Either everything is created or nothing, and only one of several simultaneous calls
 * succeeds.
 *
 * The new user is the actor in the audit log. The link proves that somebody who can read the output
 * of the service permitted this. Throws bad_request if the link cannot be used or the password is
 * weak.
 */
export async function setUp(
	pool: Pool,
	input: z.output<typeof setupInput>,
	from: From,
): Promise<{ user_id: string; email: string; organization_id: string }> {
	const hash = await checkSetupLink(pool, input.token);
	requireGoodPassword(input.password, [
		input.email,
		input.name,
		input.organization_name,
	]);
	// Hashing is slow on purpose. It therefore happens before the transaction, and only after the
	// token was found.
	const passwordHash = await hashPassword(input.password);
	const organizationId = makeOrganizationId();
	return transaction(pool, { organizationId }, async (client) => {
		const { rows } = await client.query<{ used: boolean }>(
			"select use_setup_link(decode($1, 'hex')) as used",
			[hash],
		);
		if (!rows[0]?.used) throw unusableLink();
		const { name } = input;
		const email = normalAddress(input.email);
		const { userId } = await createUser(client, {
			email,
			name,
			passwordHash,
			addressProof: "COMMAND",
		});
		const changes = [
			await insertOrganization(client, organizationId, {
				name: input.organization_name,
				timeZone: input.time_zone,
			}),
			await addMember(
				client,
				organizationId,
				{ id: userId, name, email },
				"admin",
			),
			...(await addPersonOf(client, organizationId, { name, email })),
		];
		await appendChanges(
			client,
			{ kind: "USER", userId, name, memberships: [], ...from },
			"setUp",
			organizationId,
			changes,
		);
		return { user_id: userId, email, organization_id: organizationId };
	});
}

function setUpAlready(): AppError {
	return new AppError(
		"bad_request",
		"Assay is already set up; sign in, or ask an administrator for an invitation",
	);
}

function unusableLink(): AppError {
	return new AppError(
		"bad_request",
		`the setup link is used, expired or replaced by a newer one; \`${COMMAND} setup-link\` on the server prints a new one`,
	);
}
