import { type Step, userIdOf } from "./exchange.ts";
import { throttledEvent } from "./sign-in-events.ts";
import { countAttempt, forgetAttempts, QUARTER } from "./sign-in-throttle.ts";

const MAX_WRONG_CODES = 10;

/**
 * Rejects better-auth's "trust this device": a cookie that skips the second factor for 30 days and
 * stands in no list of sessions. Cookies of this kind from an earlier version are never passed on.
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
 * Counts an attempt before the code is looked at, so that codes sent at once count as well. TOTP
 * and recovery codes share the count; a right code forgets it. Attempts within a session are
 * counted apart, so that a stolen session cannot keep its owner from signing in.
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
