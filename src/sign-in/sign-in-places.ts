import type { Pool } from "pg";
import { transaction } from "../db/pool.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import type { Compose, Mailer } from "../mail/mailer.ts";
import { nameInMail } from "../mail/message.ts";
import { queueMail } from "../mail/queue.ts";
import { deviceWords } from "./browser-words.ts";
import type { From } from "./exchange.ts";
import { countAttempt, DAY } from "./sign-in-throttle.ts";
import { findUser } from "./users.ts";

/** Largest number of mails about new sign-ins to one user in a day. */
const MAX_MAILS_A_DAY = 5;
/** Number of browsers and networks that are remembered for a user. */
const MAX_PLACES = 100;

/**
 * Remembers the browser and the network of a successful sign-in. If the user has not signed in with
 * this browser in this network before, queues a mail to the user. The very first sign-in needs no
 * mail.
 *
 * Only a sign-in that succeeded comes here, so strangers cannot send mails to anybody. Somebody who
 * has the password and pretends to use many browsers causes only MAX_MAILS_A_DAY mails.
 */
export async function noteSignInPlace(
	{ pool, mail }: { pool: Pool; mail?: Mailer | undefined },
	userId: string,
	{ client, address }: From,
): Promise<void> {
	const browser = deviceWords(client ?? null);
	const network = networkOf(address ?? "");
	const { rows } = await pool.query<{ must_tell: boolean }>(
		`insert into sign_in_places as p (user_id, browser, network, address, is_untold)
		values ($1::text, $2, $3, $4, $5 and exists (select from sign_in_places where user_id = $1::text))
		on conflict (user_id, browser, network) do update set last_at = now()
		returning xmax = 0 and is_untold as must_tell`,
		[userId, browser, network, address ?? null, mail !== undefined],
	);
	if (!rows[0]?.must_tell || !mail) return;
	const { waitSeconds } = await countAttempt(
		pool,
		`mails about new sign-ins: ${userId}`,
		{ allowed: MAX_MAILS_A_DAY, window: DAY },
	);
	if (waitSeconds > 0) return;
	await transaction(pool, {}, async (client) => {
		const id = await queueMail(client, { kind: "NEW_SIGN_IN", userId });
		await client.query(
			`update sign_in_places set mail_id = $2, is_untold = false
			where user_id = $1 and is_untold`,
			[userId, id],
		);
		await client.query(
			`delete from sign_in_places p
			using (
				select browser, network from sign_in_places
				where user_id = $1 order by last_at desc offset $2
			) old
			where p.user_id = $1 and p.browser = old.browser and p.network = old.network`,
			[userId, MAX_PLACES],
		);
	});
	mail.wake();
}

/** Makes the mail that tells a user about sign-ins with a new browser or from a new network. */
export const composeNewSignIn: Compose = async (
	{ pool, baseUrl },
	{ id, user_id },
) => {
	const user = user_id && (await findUser(pool, { id: user_id }));
	if (!user) return null;
	const { rows } = await pool.query<{
		browser: string;
		address: string | null;
		at: string;
	}>(
		`select browser, address,
			to_char(first_at at time zone 'UTC', 'FMDD FMMonth YYYY "at" HH24:MI') as at
		from sign_in_places where user_id = $1 and mail_id = $2 order by first_at`,
		[user.id, id],
	);
	if (rows.length === 0) return null;
	const places = rows.map(
		({ browser, address, at }) =>
			`${nameInMail(browser)}, from the address ${address ?? "unknown"}, on ${at} UTC`,
	);
	return {
		to: user.email,
		subject: "New sign-in to Assay with your account",
		text: `Hello ${nameInMail(user.name)},

somebody signed in to ${baseUrl} with your account, for the first time with this browser or from this network:

${places.join("\n")}

If it was you, do nothing. If it was not you, choose another password, and end the sessions that you do not know:

${baseUrl}/account
`,
	};
};
