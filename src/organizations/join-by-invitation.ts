import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import { appendChanges } from "../audit/log.ts";
import { transaction } from "../db/pool.ts";
import { setOrganization, setUser } from "../db/transaction-settings.ts";
import { AppError } from "../errors.ts";
import type { Compose } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { queueMail } from "../mail/queue.ts";
import { nameSchema } from "../records/text-schemas.ts";
import { hashPassword } from "../sign-in/password-hash.ts";
import type { ResetParts } from "../sign-in/password-reset.ts";
import {
	passwordSchema,
	requireGoodPassword,
} from "../sign-in/password-rules.ts";
import { requirePasswordSignIn } from "../sign-in/password-sign-in.ts";
import { countAttempt, DAY } from "../sign-in/sign-in-throttle.ts";
import { createUser, findUser } from "../sign-in/users.ts";
import { requireOpenOrganization } from "./closures.ts";
import { hashInvitation, unusableInvitation } from "./invitation-operations.ts";
import { addPersonOf } from "./person-of-member.ts";

export const joinInput = z.strictObject({
	token: z.string(),
	name: nameSchema(),
	password: passwordSchema,
});

/** Maximum number of attempts in a day to create an account for an address that already has one. */
const MAX_TRIES_A_DAY = 5;

/**
 * Creates the account and the membership of an invited person who has no account. The mailed link
 * proves that the person owns the address. The other link does not, because the admin who made the
 * invitation has seen it. A user who has an account signs in and calls acceptInvitation instead.
 * Throws bad_request if the link cannot be used or the password is weak.
 */
export async function joinByInvitation(
	parts: ResetParts,
	input: z.output<typeof joinInput>,
): Promise<{ user_id: string; email: string; organization_id: string }> {
	const { appPool: pool } = parts;
	const hash = hashInvitation(input.token);
	const invited = await findInvitation(pool, hash);
	if (!invited) throw unusableInvitation();
	requirePasswordSignIn(parts, invited.email);
	requireGoodPassword(input.password, [invited.email, input.name]);
	await limitTries(parts, invited);
	// Hashing is slow on purpose. It therefore happens before the transaction, and only after the
	// token was found.
	const passwordHash = await hashPassword(input.password);
	return transaction(pool, {}, async (client) => {
		const invitation = await findInvitation(client, hash);
		if (!invitation) throw unusableInvitation();
		const { email } = invitation;
		const { name } = input;
		const user = await createUser(client, {
			email,
			name,
			passwordHash,
			...(invitation.is_mailed && { addressProof: "LINK" }),
		});
		if (!user.isNew) {
			throw new AppError(
				"bad_request",
				`${email} already has an account; sign in and open the invitation again`,
			);
		}
		const organizationId = await acceptForUser(client, hash, {
			id: user.userId,
			name,
			email,
		});
		return {
			user_id: user.userId,
			email,
			organization_id: organizationId,
		};
	});
}

/**
 * Makes a user a member by an invitation: one who was created in the same transaction, or whom an
 * identity provider vouches for. API tokens that the user has do not reach the organization. Afterwards the
 * transaction acts for the organization, whose id is returned. Throws bad_request if the invitation
 * cannot be used, and forbidden if the organization is closed. `hash` is the hash of its token, in hexadecimal digits.
 */
export async function acceptForUser(
	client: PoolClient,
	hash: string,
	{ id, name, email }: { id: string; name: string; email: string },
): Promise<string> {
	await client.query(setUser(id));
	const { rows } = await client.query<{
		invitation_id: string;
		organization_id: string;
		role: string;
	}>(
		"select * from accept_invitation_with_tokens(decode($1, 'hex'), null, '{}')",
		[hash],
	);
	const [accepted] = rows;
	if (!accepted) throw unusableInvitation();
	const organizationId = accepted.organization_id;
	await client.query(setOrganization(organizationId));
	await requireOpenOrganization(client, organizationId);
	const person = await addPersonOf(client, organizationId, { name, email });
	await appendChanges(
		client,
		{ kind: "USER", userId: id, name, memberships: [] },
		"acceptInvitation",
		organizationId,
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
			...person,
		],
	);
	return organizationId;
}

interface Invited {
	email: string;
	/** True if the link is the one that was mailed to the address. */
	is_mailed: boolean;
}

async function findInvitation(
	client: Pick<Pool, "query">,
	hash: string,
): Promise<Invited | undefined> {
	const { rows } = await client.query<Invited>(
		"select email, is_mailed from find_invitation(decode($1, 'hex'))",
		[hash],
	);
	return rows[0];
}

/**
 * Limits how often somebody may find out that an address has an account, and informs the owner of
 * the address by mail. The mailed link has no such limit, because only the owner of the address has
 * it and learns nothing new from it. Throws bad_request after too many attempts.
 */
async function limitTries(
	{ pool, mail }: ResetParts,
	{ email, is_mailed }: Invited,
): Promise<void> {
	if (is_mailed) return;
	const owner = await findUser(pool, { email });
	if (!owner) return;
	const { waitSeconds } = await countAttempt(pool, `join ${email}`, {
		allowed: MAX_TRIES_A_DAY,
		window: DAY,
	});
	if (waitSeconds > 0) {
		throw new AppError(
			"bad_request",
			"there were too many attempts with this invitation; sign in if you have an account, or try again tomorrow",
		);
	}
	if (!mail) return;
	await queueMail(pool, { kind: "JOIN_ATTEMPT", userId: owner.id });
	mail.wake();
}

/** Makes the mail that tells the owner of an address that somebody wanted an account for it. */
export const composeJoinAttempt: Compose = async (
	{ pool, baseUrl },
	{ user_id },
) => {
	const owner = user_id && (await findUser(pool, { id: user_id }));
	if (!owner) return null;
	return {
		to: owner.email,
		subject: "Somebody tried to create an account for your address",
		text: `Hello ${nameInMail(owner.name)},

somebody with an invitation for your address tried to create an account for it at ${baseUrl}. You have an account already, and nothing was changed. If it was you, sign in and open the invitation again.
`,
	};
};
