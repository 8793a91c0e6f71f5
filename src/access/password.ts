import { z } from "zod";
import { badFields } from "../errors.ts";
import { weaknessOf } from "./password-quality.ts";

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 128;

/** Length is what counts; rules about kinds of characters make passwords worse. */
export const passwordSchema = z.string().min(MIN_PASSWORD).max(MAX_PASSWORD);

/**
 * Throws bad_request for a new password that would be guessed; `about` is what everybody knows of
 * its user. It is not part of the schema: what is known depends on whose it is.
 */
export function requireGoodPassword(
	password: string,
	about: readonly string[],
): void {
	const message = weaknessOf(password, about);
	if (message) throw badFields([{ field: "password", message }]);
}

/** True when it is the password of this hash. */
export async function isPasswordOf(
	hash: string,
	password: string,
): Promise<boolean> {
	const crypto = await import("better-auth/crypto");
	return crypto.verifyPassword({ hash, password });
}

/** The scrypt hash as better-auth writes and checks it; takes some 50 ms of another thread. */
export async function hashPassword(password: string): Promise<string> {
	// Only when it is needed: it brings much code along.
	const crypto = await import("better-auth/crypto");
	return crypto.hashPassword(password);
}
