import type { Pool } from "pg";
import type { Subject } from "./sign-in-events.ts";
import { countAttempt, forgetAttempts } from "./sign-in-throttle.ts";

/**
 * A code of an authenticator is taken once (RFC 6238, 5.2): whoever reads one over a shoulder, or is
 * told one on the telephone, comes too late. It is claimed before it is checked, so that of two
 * requests at once one gets it; a wrong one is given back. Undefined: the request has no such code.
 */
export async function claimCode(
	pool: Pool,
	path: string,
	body: unknown,
	subject: Subject | undefined,
): Promise<{ isFree: boolean; giveBack: () => Promise<void> } | undefined> {
	if (path !== "/two-factor/verify-totp") return undefined;
	const { code } = (body ?? {}) as { code?: unknown };
	if (!subject || !("id" in subject.whose) || typeof code !== "string") {
		return undefined;
	}
	// Kept where attempts are, which forgets after 15 minutes; a code is good for one and a half.
	const key = `code ${subject.whose.id} ${code}`;
	const { waitSeconds } = await countAttempt(pool, key, 1);
	return {
		isFree: waitSeconds === 0,
		giveBack: () => forgetAttempts(pool, key),
	};
}

/** In better-auth's words for a wrong one. */
export function usedCode(): Response {
	return Response.json(
		{
			code: "INVALID_CODE",
			message: "the code was used already; wait for the next one",
		},
		{ status: 401 },
	);
}
