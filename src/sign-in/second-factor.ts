import { type Step, userIdOf } from "./exchange.ts";
import { throttledEvent } from "./sign-in-events.ts";
import { countAttempt, forgetAttempts, QUARTER } from "./sign-in-throttle.ts";

const MAX_WRONG_CODES = 10;

/**
 * Rejects better-auth's option "trust this device". The option sets a cookie that skips the second
 * factor for 30 days and appears in no list of sessions. An earlier version may have set such a
 * cookie, which is never passed on to better-auth.
 */
export const rejectTrustDevice: Step = async ({ body }) => {
	if (body.trustDevice === undefined) return;
	return Response.json(
		{
			code: "TRUST_DEVICE_NOT_SUPPORTED",
			message: "trustDevice is not supported; leave it out",
		},
		{ status: 400 },
	);
};

/**
 * Limits wrong codes of the second factor. An attempt is counted before its code is checked, so
 * that codes sent at the same time count too. TOTP codes and recovery codes share the count, and a
 * right code resets it. Attempts within a session have a count of their own, so that somebody with
 * a stolen session cannot keep the owner from signing in.
 */
export const limitCodes: Step = async (exchange) => {
	const { pool } = exchange.parts;
	const where = exchange.subject.sessionId ? "session" : "sign-in";
	const key = `second factor, ${where}: ${userIdOf(exchange)}`;
	const { waitSeconds, isFirst } = await countAttempt(pool, key, {
		allowed: MAX_WRONG_CODES,
		window: QUARTER,
	});
	if (isFirst) exchange.noteLater(throttledEvent(exchange, QUARTER));
	if (waitSeconds > 0) {
		return Response.json(
			{
				code: "TOO_MANY_ATTEMPTS",
				message: `too many wrong codes; try again in ${Math.ceil(waitSeconds / 60)} minutes`,
			},
			{ status: 429, headers: { "retry-after": String(waitSeconds) } },
		);
	}
	exchange.onSuccess(() => forgetAttempts(pool, key));
};
