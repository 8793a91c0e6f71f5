import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { From } from "../exchange.ts";
import type { Source } from "../providers/sources.ts";
import { SESSION_DAYS } from "../session-lifetime.ts";
import { makeIdentityId } from "../users.ts";
import type { Attempt } from "./attempt.ts";
import { type Found, findLinked } from "./find-account.ts";
import type { Outcome } from "./outcome.ts";
import { CLOCK_TOLERANCE_SECONDS } from "./provider.ts";
import type { Claims } from "./read-claims.ts";

/**
 * Stores a session and returns its secret. It replaces the one that the browser had. Returns
 * undefined if the provider was switched off meanwhile.
 */
export async function startProviderSession(
	pool: Pool,
	{ row, issuer }: Source,
	{ userId }: Found,
	{ sessionId }: Attempt,
	{ authenticatedAt }: Claims,
	{ address, client }: From,
): Promise<string | undefined> {
	const token = randomBytes(32).toString("base64url");
	const { rowCount } = await pool.query(
		`with provider as (
			select id from identity_providers where id = $10 and is_enabled for key share
		), replaced as (delete from sessions where id = $8)
		insert into sessions (
			id, user_id, token, expires_at, ip_address, user_agent, provider, proved_at,
			identity_provider_id
		)
		select $1, $2, $3, now() + $4 * interval '1 day', $5, $6, $7,
			least(now(), $9::timestamptz), $10
		where $10::text is null or exists (select from provider)`,
		[
			makeIdentityId("session"),
			userId,
			token,
			SESSION_DAYS,
			address ?? null,
			client ?? null,
			issuer,
			sessionId ?? null,
			authenticatedAt ?? null,
			row?.id ?? null,
		],
	);
	return rowCount === 1 ? token : undefined;
}

/** Records that the session's user has just given the password to the provider again. */
export async function confirmProviderSession(
	pool: Pool,
	{ row, linkedAs }: Source,
	{ sessionId, startedAt }: Attempt,
	{ subject, authenticatedAt }: Claims,
): Promise<Outcome> {
	if (
		authenticatedAt &&
		authenticatedAt.getTime() < startedAt - CLOCK_TOLERANCE_SECONDS * 1000
	) {
		return { problem: "NOT_ASKED_AGAIN" };
	}
	const userId = await findLinked(pool, linkedAs, subject);
	const { rowCount } = await pool.query(
		`update sessions set proved_at = now()
		where id = $1 and user_id = $2 and expires_at > now()
			and identity_provider_id is not distinct from $3`,
		[sessionId, userId, row?.id ?? null],
	);
	return rowCount === 0 ? { problem: "OTHER_ACCOUNT" } : { cookies: [] };
}
