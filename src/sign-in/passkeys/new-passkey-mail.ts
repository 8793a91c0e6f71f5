import type { Compose } from "../../mail/mailer.ts";
import { nameInMail } from "../../mail/message.ts";
import { queueMail } from "../../mail/queue.ts";
import type { EventParts } from "../account-events.ts";
import { countAttempt, DAY } from "../sign-in-throttle.ts";
import { findUser } from "../users.ts";

/** Largest number of mails about new passkeys to one user in a day. */
const MAX_MAILS_A_DAY = 5;

/** Queues the mail that tells a user that a passkey was added to the account. */
export async function mailNewPasskey(
	{ pool, mail }: Pick<EventParts, "pool" | "mail">,
	userId: string,
): Promise<void> {
	if (!mail) return;
	const { waitSeconds } = await countAttempt(
		pool,
		`mails about new passkeys: ${userId}`,
		{ allowed: MAX_MAILS_A_DAY, window: DAY },
	);
	if (waitSeconds > 0) return;
	await queueMail(pool, { kind: "NEW_PASSKEY", userId });
	mail.wake();
}

/** Makes that mail. Returns null if no passkey of that time is left. */
export const composeNewPasskey: Compose = async (
	{ pool, baseUrl },
	{ id, user_id },
) => {
	const user = user_id && (await findUser(pool, { id: user_id }));
	if (!user) return null;
	const { rows } = await pool.query<{ name: string; at: string }>(
		`select p.name, to_char(p.created_at at time zone 'UTC', 'FMDD FMMonth YYYY "at" HH24:MI') as at
		from passkeys p join mails m on m.user_id = p.user_id
		where p.user_id = $1 and m.id = $2
			and p.created_at <= m.created_at and p.created_at > m.created_at - interval '1 day'
		order by p.created_at desc limit 10`,
		[user.id, id],
	);
	if (rows.length === 0) return null;
	const passkeys = rows.map(
		({ name, at }) => `${nameInMail(name)}, on ${at} UTC`,
	);
	return {
		to: user.email,
		subject: "New passkey for your account on Assay",
		text: `Hello ${nameInMail(user.name)},

a passkey was added to your account at ${baseUrl}. Whoever has it can sign in as you:

${passkeys.join("\n")}

If it was you, do nothing. If it was not you, remove the passkey, choose another password, and end the sessions that you do not know:

${baseUrl}/account
`,
	};
};
