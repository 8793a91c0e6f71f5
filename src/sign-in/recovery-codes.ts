import { randomInt } from "node:crypto";
import { type Auth, type Exchange, type Step, userIdOf } from "./exchange.ts";

/**
 * Characters of the codes. People misread i, l, o, 0 and 1 on paper, so the alphabet leaves them
 * out.
 */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const CODES = 10;
const HALF = 5;

/**
 * Makes codes such as `h7k2m-9xwqd`. Each code has 49 random bits, which is enough because ten
 * wrong codes lock the second step of a sign-in.
 */
export function makeRecoveryCodes(): string[] {
	const half = () =>
		Array.from({ length: HALF }, () => ALPHABET[randomInt(ALPHABET.length)]);
	return Array.from({ length: CODES }, () =>
		[...half(), "-", ...half()].join(""),
	);
}

/**
 * Returns the codes that a user has not used yet. Returns an empty list if the user has no second
 * factor.
 */
async function recoveryCodesLeft(
	auth: Auth,
	userId: string,
): Promise<string[]> {
	try {
		const kept = await auth.api.viewBackupCodes({ body: { userId } });
		return kept.backupCodes;
	} catch (error) {
		// better-auth answers 400 if the user has no codes. Any other error, such as an unreachable
		// database, must not look as if there were no codes.
		if ((error as { statusCode?: number }).statusCode === 400) return [];
		throw error;
	}
}

export async function countRecoveryCodes(
	exchange: Exchange,
): Promise<Response> {
	const codes = await recoveryCodesLeft(exchange.auth, userIdOf(exchange));
	return Response.json({ left: codes.length });
}

/**
 * Replaces the typed text by the recovery code that it stands for, because better-auth accepts only
 * an exact copy. Upper or lower case and the dash make no difference. Text that matches no code
 * stays unchanged, and better-auth rejects it.
 */
export const findMeantCode: Step = async (exchange) => {
	const { code: typed } = exchange.body;
	if (typeof typed !== "string") return;
	const codes = await recoveryCodesLeft(exchange.auth, userIdOf(exchange));
	const meant = codes.find((code) => plain(code) === plain(typed));
	if (meant) exchange.body = { ...exchange.body, code: meant };
};

function plain(code: string): string {
	return code.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
