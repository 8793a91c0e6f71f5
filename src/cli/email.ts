import { InvalidArgumentError } from "commander";
import { normalAddress } from "../records/mail-address.ts";
import { emailSchema } from "../records/text-schemas.ts";

/** Checks an e-mail address and returns it in lower case. */
export function parseEmail(text: string): string {
	const parsed = emailSchema().safeParse(text);
	if (!parsed.success) {
		throw new InvalidArgumentError(
			"Give an e-mail address such as ada@example.com.",
		);
	}
	return normalAddress(parsed.data);
}
