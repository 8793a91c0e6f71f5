import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { z } from "zod";
import { transaction } from "../db/pool.ts";
import { AppError, badFields } from "../errors.ts";
import type { Compose, Mailer } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { queueMail } from "../mail/queue.ts";
import { emailSchema } from "../records/text-schemas.ts";
import {
	deriveSecret,
	hashSecret,
	isWellFormedSecret,
	makeSecret,
} from "../tokens/secret.ts";
import { type EventParts, noteAccountEvent } from "./account-events.ts";
import type { From } from "./exchange.ts";
import { RESET_LINK_HOURS } from "./link-hours.ts";
import { requireAnother } from "./new-password.ts";
import { removePasskeys } from "./passkeys/passkey-store.ts";
import { hashPassword } from "./password-hash.ts";
import { passwordSchema } from "./password-rules.ts";
import {
	countAttempt,
	dayKey,
	forgetAttempts,
	QUARTER,
} from "./sign-in-throttle.ts";
import { findUser, proveAddress, storePassword } from "./users.ts";

export const resetInput = z.strictObject({
	token: z.string(),
	password: passwordSchema,
	/** Says whether the user's API tokens stay valid. By default they are revoked. */
	keep_api_tokens: z.boolean().optional(),
	/** Says whether the user's passkeys stay. By default they are removed. */
	keep_passkeys: z.boolean().optional(),
});
export const forgotInput = z.strictObject({ email: emailSchema() });

/** Maximum number of mails to one address in 15 minutes. */
const MAX_MAILS = 3;

export interface ResetParts extends EventParts {
	log: Logger;
	baseUrl: string;
	/** The secret that signs cookies. */
	secret: string;
	mail?: Mailer | undefined;
}

/**
 * Returns the address of the page that sets a new password. The token follows the #. Browsers do
 * not send that part of an address to a server, so the token appears in no log.
 */
export function resetUrl(baseUrl: string, token: string): string {
	return `${baseUrl}/reset-password#${token}`;
}

/**
 * Makes a link that sets a user's password. It is meant for the user's own mailbox or for the
 * operator of the service. The link is valid for RESET_LINK_HOURS and replaces every earlier one.
 * `pool` connects as assay_identity.
 */
export async function makeResetLink(
	pool: Pool,
	baseUrl: string,
	userId: string,
): Promise<string> {
	const token = makeSecret("rst");
	await transaction(pool, {}, (client) => storeLink(client, userId, token));
	return resetUrl(baseUrl, token);
}

async function storeLink(
	client: PoolClient,
	userId: string,
	token: string,
): Promise<void> {
	await client.query("delete from account_links where user_id = $1", [userId]);
	await client.query(
		`insert into account_links (token_hash, purpose, user_id, expires_at)
		values (decode($1, 'hex'), 'PASSWORD_RESET', $2, now() + $3 * interval '1 hour')`,
		[hashSecret(token), userId, RESET_LINK_HOURS],
	);
}

/**
 * Mails a reset link if a user has this address. The response is the same, and takes the same time,
 * for every address. After MAX_MAILS mails the response stays the same, but no further mail is
 * sent. Throws bad_request if the service is not set up to send mail.
 */
export function forgetPassword(
	parts: ResetParts,
	{ email }: z.output<typeof forgotInput>,
	from: From,
): void {
	const { mail } = parts;
	if (!mail) {
		throw new AppError(
			"bad_request",
			"this service sends no mail; ask an administrator of your organization for a reset link",
		);
	}
	mailResetLink(parts, mail, email, from).catch((err) =>
		parts.log.error({ err }, "could not mail a reset link"),
	);
}

async function mailResetLink(
	parts: ResetParts,
	mail: Mailer,
	email: string,
	from: From,
): Promise<void> {
	const { pool } = parts;
	const key = `reset ${email}`;
	if (
		(await countAttempt(pool, key, { allowed: MAX_MAILS, window: QUARTER }))
			.waitSeconds > 0
	)
		return;
	const user = await findUser(pool, { email });
	if (!user) return;
	await transaction(pool, {}, async (client) => {
		// The link of the new mail replaces the links of mails that still wait.
		await client.query(
			`update mails set state = 'NOT_NEEDED', due_at = null
			where user_id = $1 and kind = 'PASSWORD_RESET' and state = 'QUEUED'`,
			[user.id],
		);
		await queueMail(client, { kind: "PASSWORD_RESET", userId: user.id });
	});
	mail.wake();
	const event = { operation: "requestPasswordReset", fields: {} } as const;
	await noteAccountEvent(
		parts,
		{ id: user.id },
		{ ...event, outcome: "DONE" },
		from,
	);
}

/**
 * Makes the mail with a reset link. The first attempt to send it makes the link. A later attempt
 * sends the same link, or nothing if the link was used or replaced or has expired.
 */
export const composePasswordReset: Compose = async (
	{ pool, baseUrl, secret },
	mail,
) => {
	const user = mail.user_id && (await findUser(pool, { id: mail.user_id }));
	if (!user) return null;
	const token = deriveSecret("rst", secret, mail.id);
	const isUsable = await transaction(pool, {}, async (client) => {
		if (mail.is_link_made) {
			const { rowCount } = await client.query(
				"select from account_links where token_hash = decode($1, 'hex') and expires_at > now()",
				[hashSecret(token)],
			);
			return rowCount === 1;
		}
		await storeLink(client, user.id, token);
		await client.query("update mails set is_link_made = true where id = $1", [
			mail.id,
		]);
		return true;
	});
	if (!isUsable) return null;
	return {
		to: user.email,
		subject: "Set a new password for Assay",
		text: `Hello ${nameInMail(user.name)},

somebody, probably you, asked for a new password for ${baseUrl}. Set it here within ${RESET_LINK_HOURS} hours:

${resetUrl(baseUrl, token)}

If it was not you, ignore this mail. Your password stays as it is.
`,
	};
};

export interface ResetLink {
	hash: string;
	email: string;
	/**
	 * Number of the user's live API tokens. A reset revokes them unless `keep_api_tokens` is true.
	 */
	live_api_tokens: number;
	/** Number of the user's passkeys. A reset removes them unless `keep_passkeys` is true. */
	passkeys: number;
	/**
	 * True if nobody has proven the address yet and the link was not made by an admin. Somebody else
	 * who saw the invitation may have created the account. When the owner of the address uses this
	 * link, it is the first proof that the account is theirs, and all access that was set up before
	 * is removed.
	 */
	is_first_proof: boolean;
}

/**
 * Returns the user whose password the link may set now. Throws bad_request if the link cannot be
 * used. `pool` connects as assay_identity.
 */
export async function checkResetLink(
	pool: Pool,
	token: string,
): Promise<ResetLink> {
	if (!isWellFormedSecret("rst", token)) {
		throw badFields([
			{
				field: "token",
				message:
					"must be the text after the # of a reset link; copy the whole link",
			},
		]);
	}
	const hash = hashSecret(token);
	const { rows } = await pool.query<Omit<ResetLink, "hash">>(
		`select u.email, u.address_proof is null and l.made_by is null as is_first_proof,
			(${LIVE_TOKENS}) as live_api_tokens,
			(select count(*)::integer from passkeys p where p.user_id = u.id) as passkeys
		from ${LINKS} join users u on u.id = l.user_id where ${IS_USABLE}`,
		[hash],
	);
	if (!rows[0]) throw unusableLink();
	return { hash, ...rows[0] };
}

/**
 * Sets a new password with a reset link, which works once. This ends all sessions of the user,
 * invalidates other reset links, and lets the address sign in again after too many wrong passwords.
 * API tokens are revoked unless `keep_api_tokens` is true, and passkeys are removed unless
 * `keep_passkeys` is true: somebody else may have added them. If the account was proven before, its
 * second factor stays.
 *
 * A link that an admin made is valid only while that admin is permitted to make it. If the user
 * joins another organization, the admin no longer administers all of the user's organizations. A
 * link from an admin does not prove who owns the address. Throws bad_request if the link cannot be
 * used or the password is weak.
 */
export async function resetPassword(
	parts: ResetParts,
	input: z.output<typeof resetInput>,
	from: From,
): Promise<{
	email: string;
	live_api_tokens: number;
	revoked_api_tokens: number;
}> {
	const { pool } = parts;
	const link = await checkResetLink(pool, input.token);
	await requireAnother(pool, link.email, input.password);
	// Hashing is slow on purpose. It therefore happens before the transaction, and only after the
	// token was found.
	const passwordHash = await hashPassword(input.password);
	const done = await transaction(pool, {}, async (client) => {
		const { rows } = await client.query<{ user_id: string; by_admin: boolean }>(
			`delete from ${LINKS} where ${IS_USABLE} returning l.user_id, l.made_by is not null as by_admin`,
			[link.hash],
		);
		const [used] = rows;
		if (!used) throw unusableLink();
		const live = await countLiveTokens(client, used.user_id);
		const isFirstProof =
			!used.by_admin && (await proveAddress(client, used.user_id));
		if (!input.keep_api_tokens) {
			await client.query(
				"update api_tokens set revoked_at = now() where user_id = $1 and revoked_at is null",
				[used.user_id],
			);
		}
		const passkeys = input.keep_passkeys
			? 0
			: await removePasskeys(client, used.user_id);
		await storePassword(client, used.user_id, passwordHash);
		const left = await countLiveTokens(client, used.user_id);
		return { ...used, isFirstProof, live, left, passkeys };
	});
	await forgetAttempts(pool, dayKey(link.email));
	const revoked = done.live - done.left;
	await noteAccountEvent(
		parts,
		{ id: done.user_id },
		{
			operation: "resetPassword",
			outcome: "DONE",
			fields: {
				link: { after: done.by_admin ? "OF_AN_ADMIN" : "OWN" },
				sessions: { after: "ENDED" },
				...(revoked > 0 && { api_tokens_revoked: { after: revoked } }),
				...(done.passkeys > 0 && {
					passkeys_removed: { after: done.passkeys },
				}),
				...(done.isFirstProof && { second_factor: { after: "OFF" } }),
			},
		},
		from,
	);
	return {
		email: link.email,
		live_api_tokens: done.left,
		revoked_api_tokens: revoked,
	};
}

async function countLiveTokens(
	client: PoolClient,
	userId: string,
): Promise<number> {
	const { rows } = await client.query<{ count: number }>(
		`select (${LIVE_TOKENS}) as count from users u where u.id = $1`,
		[userId],
	);
	return rows[0]?.count ?? 0;
}

const LIVE_TOKENS = `
	select count(*)::integer from api_tokens t
	where t.user_id = u.id and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`;

const LINKS = "account_links l";
const IS_USABLE = `
	l.token_hash = decode($1, 'hex') and l.purpose = 'PASSWORD_RESET' and l.expires_at > now()
		and (l.made_by is null or administers_account(l.made_by, l.user_id))`;

function unusableLink(): AppError {
	return new AppError(
		"bad_request",
		"the reset link is used, expired or replaced by a newer one; ask for a new one",
	);
}
