import { randomInt } from "node:crypto";
import type { makeAuth } from "./better-auth.ts";

/** Without what is mistaken for something else when it is read from paper: i, l, o, 0, 1. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const CODES = 10;
const HALF = 5;

/** As `h7k2m-9xwqd`: 49 bits each, behind a lock after ten wrong ones. */
export function makeRecoveryCodes(): string[] {
	const half = () =>
		Array.from({ length: HALF }, () => ALPHABET[randomInt(ALPHABET.length)]);
	return Array.from({ length: CODES }, () =>
		[...half(), "-", ...half()].join(""),
	);
}

type Auth = ReturnType<typeof makeAuth>;

/** Those that a user has not used yet; none without a second factor. */
export async function recoveryCodesLeft(
	auth: Auth,
	userId: string,
): Promise<string[]> {
	try {
		const kept = await auth.api.viewBackupCodes({ body: { userId } });
		return kept.backupCodes;
	} catch (error) {
		// Of a database that is away nobody is to conclude that there are none.
		if ((error as { statusCode?: number }).statusCode === 400) return [];
		throw error;
	}
}

/**
 * The user's code that is meant by what was typed, in any case and with or without its dash, as
 * better-auth wants it: exactly. What means none stays as it was typed, to be refused.
 */
export async function meantCode(
	auth: Auth,
	userId: string,
	typed: unknown,
): Promise<unknown> {
	if (typeof typed !== "string") return typed;
	const codes = await recoveryCodesLeft(auth, userId);
	return codes.find((code) => plain(code) === plain(typed)) ?? typed;
}

function plain(code: string): string {
	return code.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
