import { hash } from "node:crypto";
import type { Pool } from "pg";
import type { Exchange, Step } from "./exchange.ts";
import { throttledEvent } from "./sign-in-events.ts";

/** Wrong passwords for one address within the window; the next attempts wait for its end. */
const MAX_FAILURES = 10;
export const WINDOW = "15 minutes";

/**
 * Counts an attempt to sign in as `email`, before the password is looked at, so that
 * attempts sent at once count as well. By the account and not by the caller's address: an
 * office shares one. An address that has no user counts the same, which tells nothing.
 * Gives the seconds to wait, 0 when the attempt may go on; `isFirst` is true for the one in a
 * window that finds itself refused before the others do.
 */
export async function countAttempt(
	pool: Pool,
	email: string,
	allowed = MAX_FAILURES,
): Promise<{ waitSeconds: number; isFirst: boolean }> {
	const { rows } = await pool.query<{ wait: number; is_first: boolean }>(
		`
		with old as (
			delete from sign_in_failures
			where email_hash in (
				select email_hash from sign_in_failures
				where since < now() - interval '${WINDOW}' and email_hash <> $1
				limit 100
				for update skip locked
			)
		)
		insert into sign_in_failures as f (email_hash, failures, since) values ($1, 1, now())
		on conflict (email_hash) do update set
			failures = case when f.since < now() - interval '${WINDOW}' then 1 else f.failures + 1 end,
			since = case when f.since < now() - interval '${WINDOW}' then now() else f.since end
		returning case
			when failures > $2
			then greatest(1, ceil(extract(epoch from since + interval '${WINDOW}' - now())))::integer
			else 0
		end as wait, failures = $2 + 1 as is_first
		`,
		[keyOf(email), allowed],
	);
	const [row] = rows;
	return { waitSeconds: row?.wait ?? 0, isFirst: row?.is_first ?? false };
}

/** Forgets the attempts after a right password. */
export async function forgetAttempts(pool: Pool, email: string): Promise<void> {
	await pool.query("delete from sign_in_failures where email_hash = $1", [
		keyOf(email),
	]);
}

function keyOf(email: string): Buffer {
	return hash("sha256", email.toLowerCase(), "buffer");
}

/** Counts an attempt before the password is looked at; a right password forgets the attempts. */
export const limitPasswords: Step = async (exchange) => {
	const { pool } = exchange.parts;
	const key = passwordKey(exchange);
	const { waitSeconds, isFirst } = await countAttempt(pool, key);
	if (isFirst) exchange.noteLater(throttledEvent(exchange, WINDOW));
	if (waitSeconds > 0) return tooManyAttempts(waitSeconds);
	exchange.onSuccess(() => forgetAttempts(pool, key));
};

/**
 * Attempts within a session are counted apart, so that a stolen session can neither guess the
 * password without limit nor keep its owner from signing in.
 */
function passwordKey({ subject: { whose } }: Exchange): string {
	return "email" in whose ? whose.email : whose.id;
}

function tooManyAttempts(waitSeconds: number): Response {
	return Response.json(
		{
			code: "TOO_MANY_ATTEMPTS",
			message: `too many wrong passwords; try again in ${Math.ceil(waitSeconds / 60)} minutes`,
		},
		{ status: 429, headers: { "retry-after": String(waitSeconds) } },
	);
}
