import type { Pool } from "pg";
import type { Logger } from "pino";
import { z } from "zod";
import { transaction } from "../db/pool.ts";
import { AppError, badFields } from "../errors.ts";
import { type Mailer, nameInMail } from "../mail/mail.ts";
import { emailSchema } from "../records/text-schemas.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
} from "../tokens/secret.ts";
import { type EventParts, noteAccountEvent } from "./account-events.ts";
import type { From } from "./exchange.ts";
import { requireAnother } from "./new-password.ts";
import { hashPassword } from "./password-hash.ts";
import { passwordSchema } from "./password-rules.ts";
import { countAttempt, forgetAttempts } from "./sign-in-throttle.ts";
import { findUser, storePassword } from "./users.ts";

export const resetInput = z.strictObject({
	token: z.string(),
	password: passwordSchema,
});
export const forgotInput = z.strictObject({ email: emailSchema() });

/** Mails to one address in the throttle's window (15 minutes). */
const MAX_MAILS = 3;

export interface ResetParts extends EventParts {
	log: Logger;
	baseUrl: string;
	mail?: Mailer | undefined;
}

/** After the #: a browser does not send it to any server, so no log has it. */
export function resetUrl(baseUrl: string, token: string): string {
	return `${baseUrl}/reset-password#${token}`;
}

/**
 * A link that sets a user's password, for the user's own mailbox or from the command line; in
 * place of any before it, valid for 24 hours. `pool` is that of assay_identity.
 */
export async function makeResetLink(
	pool: Pool,
	baseUrl: string,
	userId: string,
): Promise<string> {
	const token = makeSecret("rst");
	await transaction(pool, {}, async (client) => {
		await client.query("delete from account_links where user_id = $1", [
			userId,
		]);
		await client.query(
			`insert into account_links (token_hash, purpose, user_id, expires_at)
			values (decode($1, 'hex'), 'PASSWORD_RESET', $2, now() + interval '24 hours')`,
			[hashSecret(token), userId],
		);
	});
	return resetUrl(baseUrl, token);
}

/**
 * Mails a reset link to the address, if somebody has it. The answer is the same, and as fast,
 * whoever asks for whatever address; beyond a few mails it is given without a mail. Throws
 * bad_request when the service sends no mail at all.
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
			"this service sends no mail; ask an admin of your organization for a reset link",
		);
	}
	mailResetLink(parts, mail, email, from).catch((err) =>
		parts.log.error({ err }, "a reset link could not be made"),
	);
}

async function mailResetLink(
	parts: ResetParts,
	mail: Mailer,
	email: string,
	from: From,
): Promise<void> {
	const { pool, baseUrl } = parts;
	const key = `reset ${email}`;
	if ((await countAttempt(pool, key, MAX_MAILS)).waitSeconds > 0) return;
	const user = await findUser(pool, { email });
	if (!user) return;
	const url = await makeResetLink(pool, baseUrl, user.id);
	mail.send({
		to: user.email,
		subject: "Set a new password for Assay",
		text: `Hello ${nameInMail(user.name)},

somebody, probably you, has asked for a new password for ${baseUrl}. Set it here, within 24 hours:

${url}

If it was not you, do nothing: your password stays as it is.
`,
	});
	const event = { operation: "requestPasswordReset", fields: {} } as const;
	await noteAccountEvent(
		parts,
		{ id: user.id },
		{ ...event, outcome: "DONE" },
		from,
	);
}

/** Whose password a link may set now. `pool` is that of assay_identity. Throws bad_request. */
export async function checkResetLink(
	pool: Pool,
	token: string,
): Promise<{ hash: string; email: string }> {
	if (!isWellFormedSecret("rst", token)) {
		throw badFields([
			{
				field: "token",
				message:
					"is no reset link; copy the link whole, the token is what follows its #",
			},
		]);
	}
	const hash = hashSecret(token);
	const { rows } = await pool.query<{ email: string }>(
		`select (select u.email from users u where u.id = l.user_id) as email from ${USABLE}`,
		[hash],
	);
	if (!rows[0]) throw unusableLink();
	return { hash, email: rows[0].email };
}

/**
 * A new password by a reset link, once. It ends all sessions of the user, makes other reset
 * links useless and lifts the throttle. A second factor stays. API tokens stay too: a forgotten
 * password says nothing about them, and what runs with them should not stop for it; the answer
 * says how many there are, so that somebody whose account was misused looks at them.
 *
 * A link that an admin made counts as long as that admin may make it: a user who has joined
 * another organization since is not theirs alone any more. Throws bad_request.
 */
export async function resetPassword(
	parts: ResetParts,
	input: z.output<typeof resetInput>,
	from: From,
): Promise<{ email: string; live_api_tokens: number }> {
	const { pool } = parts;
	const { hash, email: whose } = await checkResetLink(pool, input.token);
	await requireAnother(pool, whose, input.password);
	// Slow on purpose; not while a transaction waits, and not for an invented token.
	const passwordHash = await hashPassword(input.password);
	const done = await transaction(pool, {}, async (client) => {
		const { rows } = await client.query<{ user_id: string; by_admin: boolean }>(
			`delete from ${USABLE} returning l.user_id, l.made_by is not null as by_admin`,
			[hash],
		);
		if (!rows[0]) throw unusableLink();
		await storePassword(client, rows[0].user_id, passwordHash);
		const { rows: users } = await client.query<{
			email: string;
			live_api_tokens: number;
		}>(
			`select u.email, (
				select count(*)::integer from api_tokens t
				where t.user_id = u.id and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
			) as live_api_tokens
			from users u where u.id = $1`,
			[rows[0].user_id],
		);
		if (!users[0]) throw unusableLink();
		return { ...rows[0], ...users[0] };
	});
	const { email, live_api_tokens } = done;
	await forgetAttempts(pool, email);
	await noteAccountEvent(
		parts,
		{ id: done.user_id },
		{
			operation: "resetPassword",
			outcome: "DONE",
			fields: {
				link: { after: done.by_admin ? "OF_AN_ADMIN" : "OWN" },
				sessions: { after: "ENDED" },
			},
		},
		from,
	);
	return { email, live_api_tokens };
}

const USABLE = `account_links l
	where l.token_hash = decode($1, 'hex') and l.purpose = 'PASSWORD_RESET' and l.expires_at > now()
		and (l.made_by is null or administers_account(l.made_by, l.user_id))`;

function unusableLink(): AppError {
	return new AppError(
		"bad_request",
		"the reset link was used, replaced by a newer one, or has expired; ask for a new one",
	);
}
