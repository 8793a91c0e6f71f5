import { randomInt } from "node:crypto";
import { type Auth, type Exchange, type Step, userIdOf } from "./exchange.ts";

/** Characters of the codes, without those that people misread on paper: i, l, o, 0, 1. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const CODES = 10;
const HALF = 5;

/**
 * Makes codes such as `h7k2m-9xwqd`, which have 49 bits each. After ten wrong codes the second step
 * of a sign-in is locked.
 */
export function makeRecoveryCodes(): string[] {
	const half = () =>
		Array.from({ length: HALF }, () => ALPHABET[randomInt(ALPHABET.length)]);
	return Array.from({ length: CODES }, () =>
		[...half(), "-", ...half()].join(""),
	);
}

/** Returns the codes that a user has not used yet. There are none without a second factor. */
async function recoveryCodesLeft(
	auth: Auth,
	userId: string,
): Promise<string[]> {
	try {
		const kept = await auth.api.viewBackupCodes({ body: { userId } });
		return kept.backupCodes;
	} catch (error) {
		// Only a 400 means that there are no codes. An unreachable database must not look like that.
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
 * Replaces the typed text by the recovery code that it means, whatever its case and with or without
 * its dash. better-auth only accepts an exact copy. Text that matches no code is left as it is and
 * gets rejected.
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
