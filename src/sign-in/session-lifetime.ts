import { DAY_MS } from "../units.ts";
import type { Step } from "./exchange.ts";

/** Number of days without a visit after which a session ends. Each visit prolongs the session. */
export const SESSION_DAYS = 7;

/**
 * Longest lifetime of a session in days, however often it is used. Each visit prolongs a session by
 * a week, and better-auth sets no limit to that. Without this limit, a cookie that somebody copied
 * once would work forever.
 */
export const MAX_SESSION_DAYS = 30;

/** Returns true if the session is not too old. */
export function isWithinLifetime(session: { createdAt: Date }): boolean {
	const ageMs = Date.now() - session.createdAt.getTime();
	return ageMs < MAX_SESSION_DAYS * DAY_MS;
}

/**
 * Returns better-auth's response without the secret of the session. better-auth puts the secret
 * into the body as well as into the cookie, and a script in the page must not be able to read it.
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

/** Ends the session that the browser had before, because signing in replaces its cookie. */
export const endReplacedSession: Step = async ({
	parts,
	replacedSessionId,
	onSuccess,
}) => {
	if (!replacedSessionId) return;
	onSuccess(() =>
		parts.pool.query("delete from sessions where id = $1", [replacedSessionId]),
	);
};

/**
 * Throws if the database cannot be reached. better-auth would answer 200 although it could not end
 * the session.
 */
export const requireDatabase: Step = async ({ parts }) => {
	await parts.pool.query("select");
};
