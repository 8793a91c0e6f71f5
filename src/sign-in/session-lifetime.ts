import type { Pool } from "pg";

/**
 * How long a session may live however often it is used. A visit prolongs one by a week, and
 * better-auth knows no end to that: a cookie that was copied once would be good for ever.
 */
export const MAX_SESSION_DAYS = 30;

/**
 * True for a session that may still be used; one that has lived too long is ended here and now.
 * `pool` is that of assay_identity.
 */
export async function isWithinLifetime(
	pool: Pool,
	session: { id: string; createdAt: Date },
): Promise<boolean> {
	const ageMs = Date.now() - session.createdAt.getTime();
	if (ageMs < MAX_SESSION_DAYS * 24 * 3_600_000) return true;
	await pool.query("delete from sessions where id = $1", [session.id]);
	return false;
}

/**
 * An answer of better-auth without the secret of the session, which it tells beside the cookie: what
 * a script in the page must not read is in no answer that it can read.
 */
export async function withoutSessionSecret(
	response: Response,
): Promise<Response> {
	const text = await response.text();
	const { status, headers } = response;
	if (!text.includes('"token"')) {
		return new Response(text || null, { status, headers });
	}
	const body = JSON.parse(text) as {
		token?: unknown;
		session?: { token?: unknown };
	};
	delete body.token;
	delete body.session?.token;
	return new Response(JSON.stringify(body), { status, headers });
}
