import { type Step, userIdOf } from "./exchange.ts";
import { countAttempt, forgetAttempts, QUARTER } from "./sign-in-throttle.ts";

/**
 * Accepts a code of an authenticator only once (RFC 6238, 5.2), so that somebody who reads one over
 * a shoulder, or is told one on the telephone, comes too late. The code is claimed before it is
 * checked: of two requests at once, one gets it. A wrong code is given back.
 */
export const claimCode: Step = async (exchange) => {
	const { parts, body } = exchange;
	if (typeof body.code !== "string") return undefined;
	// Kept with the attempts, which are forgotten after 15 minutes; a code is valid for 1.5 minutes.
	const key = `code ${userIdOf(exchange)} ${body.code}`;
	const { waitSeconds } = await countAttempt(parts.pool, key, {
		allowed: 1,
		window: QUARTER,
	});
	if (waitSeconds > 0) return usedCode();
	exchange.onFailure(() => forgetAttempts(parts.pool, key));
};

/** The answer has the shape that better-auth gives a wrong code. */
function usedCode(): Response {
	return Response.json(
		{
			code: "INVALID_CODE",
			message: "the code was used already; wait for the next one",
		},
		{ status: 401 },
	);
}
