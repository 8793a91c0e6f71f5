import { z } from "zod";

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 128;

/** Length is what counts; rules about kinds of characters make passwords worse. */
export const passwordSchema = z.string().min(MIN_PASSWORD).max(MAX_PASSWORD);

/** The scrypt hash as better-auth writes and checks it; takes some 50 ms of another thread. */
export async function hashPassword(password: string): Promise<string> {
	// Only when it is needed: it brings much code along.
	const crypto = await import("better-auth/crypto");
	return crypto.hashPassword(password);
}
