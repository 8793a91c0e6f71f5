import type { Pool } from "pg";
import { z } from "zod";
import { appendChanges } from "../audit/log.ts";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { nameSchema } from "../records/text-schemas.ts";
import { hashPassword } from "../sign-in/password-hash.ts";
import {
	passwordSchema,
	requireGoodPassword,
} from "../sign-in/password-rules.ts";
import { createUser } from "../sign-in/users.ts";
import { hashInvitation, unusableInvitation } from "./invitation-operations.ts";

export const joinInput = z.strictObject({
	token: z.string(),
	name: nameSchema(),
	password: passwordSchema,
});

/**
 * Makes the account of somebody who was invited and has none, and the membership with it.
 * The invitation's link proves the address. Whoever has an account signs in and calls
 * acceptInvitation instead. Throws bad_request.
 */
export async function joinByInvitation(
	pool: Pool,
	input: z.output<typeof joinInput>,
): Promise<{ user_id: string; email: string; organization_id: string }> {
	const hash = hashInvitation(input.token);
	const invited = await findEmail(pool, hash);
	if (!invited) throw unusableInvitation();
	requireGoodPassword(input.password, [invited, input.name]);
	// Slow on purpose; not while a transaction waits, and not for an invented token.
	const passwordHash = await hashPassword(input.password);
	return transaction(pool, {}, async (client) => {
		const email = await findEmail(client, hash);
		if (!email) throw unusableInvitation();
		const { name } = input;
		const user = await createUser(client, { email, name, passwordHash });
		if (!user.isNew) {
			throw new AppError(
				"bad_request",
				`there is an account for ${email} already; sign in and open the invitation again`,
			);
		}
		await client.query("select set_config('assay.user_id', $1, true)", [
			user.userId,
		]);
		const { rows } = await client.query<{
			invitation_id: string;
			organization_id: string;
			role: string;
		}>("select * from accept_invitation(decode($1, 'hex'))", [hash]);
		const [accepted] = rows;
		if (!accepted) throw unusableInvitation();
		await appendChanges(
			client,
			{ kind: "USER", userId: user.userId, name, memberships: [] },
			"acceptInvitation",
			accepted.organization_id,
			[
				{
					kind: "invitation",
					id: accepted.invitation_id,
					name: email,
					fields: {
						status: { before: "OPEN", after: "ACCEPTED" },
						role: { after: accepted.role },
					},
				},
			],
		);
		return {
			user_id: user.userId,
			email,
			organization_id: accepted.organization_id,
		};
	});
}

async function findEmail(
	client: Pick<Pool, "query">,
	hash: string,
): Promise<string | null> {
	const { rows } = await client.query<{ email: string | null }>(
		"select invitation_email(decode($1, 'hex')) as email",
		[hash],
	);
	return rows[0]?.email ?? null;
}
