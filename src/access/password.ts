import { z } from "zod";
import { badFields } from "../errors.ts";
import { weaknessOf } from "./password-quality.ts";

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 128;

/** Length is what counts; rules about kinds of characters make passwords worse. */
export const passwordSchema = z.string().min(MIN_PASSWORD).max(MAX_PASSWORD);

/**
 * Throws bad_request for a new password of a wrong length, or one that would be guessed; `about` is what
 * everybody knows of its user. More than the schema can say: what is known depends on whose it is.
 */
export function requireGoodPassword(
	password: string,
	about: readonly string[],
): void {
	const message = passwordSchema.safeParse(password).success
		? weaknessOf(password, about)
		: `must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`;
	if (message) throw badFields([{ field: "password", message }]);
}
