import { hash } from "node:crypto";
import type { Pool } from "pg";
import { networkOf } from "../load/sign-in-queue.ts";
import { ADDRESS_HEADER } from "./address-header.ts";
import type { Exchange, Step } from "./exchange.ts";
import { findKnownBrowser } from "./known-browser.ts";
import { throttledEvent } from "./sign-in-events.ts";

export const QUARTER = "15 minutes";
export const DAY = "1 day";

/**
 * Maximum number of wrong passwords for one address in 15 minutes, from one network or one known
 * browser.
 */
const MAX_FAILURES = 10;
/**
 * Maximum number of wrong passwords for one address in a day. Wrong passwords from browsers in
 * which the user has signed in before are not included.
 */
const MAX_FAILURES_A_DAY = 100;

interface Limit {
	allowed: number;
	/** A PostgreSQL interval. The window begins with the first attempt. */
	window: typeof QUARTER | typeof DAY;
}

/**
 * Counts an attempt before its password or code is checked, so that attempts sent at the same time
 * count too. A key that belongs to no user is counted in the same way, so the result does not
 * reveal whether the user exists.
 *
 * Returns the seconds to wait, or 0 when the attempt may proceed. `isFirst` is true for the first
 * attempt in a window that has to wait.
 */
export async function countAttempt(
	pool: Pool,
	key: string,
	{ allowed, window }: Limit = { allowed: MAX_FAILURES, window: QUARTER },
): Promise<{ waitSeconds: number; isFirst: boolean }> {
	const { rows } = await pool.query<{ wait: number; is_first: boolean }>(
		`
		with old as (
			delete from sign_in_failures
			where email_hash in (
				select email_hash from sign_in_failures
				where ends_at < now() and email_hash <> $1
				limit 100
				for update skip locked
			)
		)
		insert into sign_in_failures as f (email_hash, failures, since, ends_at)
		values ($1, 1, now(), now() + $3::interval)
		on conflict (email_hash) do update set
			failures = case when f.ends_at < now() then 1 else f.failures + 1 end,
			since = case when f.ends_at < now() then now() else f.since end,
			ends_at = case when f.ends_at < now() then now() + $3::interval else f.ends_at end
		returning case
			when failures > $2 then greatest(1, ceil(extract(epoch from ends_at - now())))::integer
			else 0
		end as wait, failures = $2 + 1 as is_first
		`,
		[hashOf(key), allowed, window],
	);
	const [row] = rows;
	return { waitSeconds: row?.wait ?? 0, isFirst: row?.is_first ?? false };
}

export async function forgetAttempts(pool: Pool, key: string): Promise<void> {
	await pool.query("delete from sign_in_failures where email_hash = $1", [
		hashOf(key),
	]);
}

/** Subtracts one attempt from the count, because its password was right. */
async function giveBackAttempt(pool: Pool, key: string): Promise<void> {
	await pool.query(
		"update sign_in_failures set failures = failures - 1 where email_hash = $1 and failures > 0",
		[hashOf(key)],
	);
}

function hashOf(key: string): Buffer {
	return hash("sha256", key.toLowerCase(), "buffer");
}

/** Returns the key under which an address's wrong passwords of one day are counted. */
export function dayKey(email: string): string {
	return `a day: ${email}`;
}

/**
 * Limits wrong passwords for an address. There are three counts:
 *
 * - One count for each network, so that nobody elsewhere can lock out the owner of the address.
 * - One count for each browser in which the user has signed in before, so that a neighbor in the
 *   same network cannot lock out the owner either.
 * - One count for the day, over all other browsers. After 100 wrong passwords, only known browsers
 *   and browsers that have used a mailed link may try.
 */
export const limitSignIns: Step = async (exchange) => {
	const { parts, headers, subject } = exchange;
	const email = "email" in subject.whose ? subject.whose.email : "";
	const browser = findKnownBrowser(parts, headers, email);
	const from = browser ?? networkOf(headers.get(ADDRESS_HEADER) ?? "");
	const rejected = await limit(exchange, `${email} from ${from}`);
	if (rejected || browser) return rejected;
	const key = dayKey(email);
	exchange.onSuccess(() => giveBackAttempt(parts.pool, key));
	const { waitSeconds, isFirst } = await countAttempt(parts.pool, key, {
		allowed: MAX_FAILURES_A_DAY,
		window: DAY,
	});
	if (isFirst) exchange.noteLater(throttledEvent(exchange, DAY));
	return waitSeconds > 0 ? tooManyAttempts(waitSeconds) : undefined;
};

/**
 * Limits guesses at the password within a session. These guesses have a count of their own.
 * Somebody with a stolen session can therefore neither guess without limit nor keep the owner from
 * signing in.
 */
export const limitPasswords: Step = (exchange) => {
	const { whose } = exchange.subject;
	return limit(exchange, "id" in whose ? whose.id : whose.email);
};

/**
 * Counts an attempt. Returns a response if there were too many, and otherwise undefined. A right
 * password resets the count.
 */
async function limit(
	exchange: Exchange,
	key: string,
): Promise<Response | undefined> {
	const { pool } = exchange.parts;
	const { waitSeconds, isFirst } = await countAttempt(pool, key);
	if (isFirst) exchange.noteLater(throttledEvent(exchange, QUARTER));
	if (waitSeconds > 0) return tooManyAttempts(waitSeconds);
	exchange.onSuccess(() => forgetAttempts(pool, key));
	return undefined;
}

function tooManyAttempts(waitSeconds: number): Response {
	const minutes = Math.ceil(waitSeconds / 60);
	return Response.json(
		{
			code: "TOO_MANY_ATTEMPTS",
			message: `too many wrong passwords; try again in ${minutes} minutes, or reset the password with a mailed link`,
		},
		{ status: 429, headers: { "retry-after": String(waitSeconds) } },
	);
}
