import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { cookieNames, setCookie, signCookie } from "./cookies.ts";
import type { From } from "./exchange.ts";
import { SESSION_DAYS } from "./session-lifetime.ts";
import { makeIdentityId } from "./users.ts";

/**
 * Stores a session of a user who has just signed in with a passkey. Returns the value of the
 * Set-Cookie header. The session replaces the one that the browser had.
 */
export async function startSession(
	client: Pool | PoolClient,
	{ baseUrl, secret }: { baseUrl: string; secret: string },
	{
		userId,
		passkeyId,
		replacedSessionId,
		from: { address, client: userAgent },
	}: {
		userId: string;
		passkeyId: string;
		replacedSessionId?: string | undefined;
		from: From;
	},
): Promise<string> {
	const token = randomBytes(32).toString("base64url");
	await client.query(
		`with replaced as (delete from sessions where id = $7)
		insert into sessions (
			id, user_id, token, expires_at, ip_address, user_agent, last_address, last_user_agent, passkey_id
		)
		values ($1, $2, $3, now() + $4 * interval '1 day', $5, $6, $5, $6, $8)`,
		[
			makeIdentityId("session"),
			userId,
			token,
			SESSION_DAYS,
			address ?? null,
			userAgent ?? null,
			replacedSessionId ?? null,
			passkeyId,
		],
	);
	return setCookie(baseUrl, {
		name: cookieNames(baseUrl).session,
		value: signCookie(token, secret),
		maxAgeSeconds: SESSION_DAYS * 24 * 3600,
		sameSite: "Strict",
	});
}
