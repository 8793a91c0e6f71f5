import { type Step, userIdOf } from "./exchange.ts";
import { countAttempt, forgetAttempts, QUARTER } from "./sign-in-throttle.ts";

/**
 * Accepts each code of an authenticator only once (RFC 6238, 5.2). Somebody who reads a code over a
 * user's shoulder, or hears it on the telephone, cannot use it again. The code is claimed before it
 * is checked, so only one of two simultaneous requests can use it. A wrong code is released again.
 */
export const claimCode: Step = async (exchange) => {
	const { parts, body } = exchange;
	if (typeof body.code !== "string") return undefined;
	// The claim is stored with the counts of attempts, which are kept for 15 minutes. A code is valid
	// for only 1.5 minutes, so the claim outlives it.
	const key = `code ${userIdOf(exchange)} ${body.code}`;
	const { waitSeconds } = await countAttempt(parts.pool, key, {
		allowed: 1,
		window: QUARTER,
	});
	if (waitSeconds > 0) return usedCode();
	exchange.onFailure(() => forgetAttempts(parts.pool, key));
};

/** Returns a response in the shape that better-auth uses for a wrong code. */
function usedCode(): Response {
	return Response.json(
		{
			code: "INVALID_CODE",
			message: "the code has been used already; wait for the next one",
		},
		{ status: 401 },
	);
}
