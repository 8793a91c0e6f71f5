import { z } from "zod";
import { badFields } from "../errors.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "./password-length.ts";
import { asGuessed, weaknessOf } from "./password-strength.ts";

/**
 * Checks only the length, which matters most. Rules that require certain kinds of characters make
 * passwords worse.
 */
export const passwordSchema = z.string().min(MIN_PASSWORD).max(MAX_PASSWORD);

/**
 * Throws bad_request if a new password has the wrong length or is easy to guess. `about` lists what
 * everybody knows about the user. The schema cannot check a password against that, because it
 * differs for each user.
 */
export function requireGoodPassword(
	password: string,
	about: readonly string[],
): void {
	const message = whyBad(password, about);
	if (message) throw badFields([{ field: "password", message }]);
}

/**
 * Returns what is wrong with a new password, or undefined if the password is good. Invisible
 * characters do not count towards the length.
 */
export function whyBad(
	password: string,
	about: readonly string[],
): string | undefined {
	const isLong =
		passwordSchema.safeParse(password).success &&
		asGuessed(password).length >= MIN_PASSWORD;
	return isLong
		? weaknessOf(password, about)
		: `must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`;
}
