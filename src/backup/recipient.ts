import { age } from "./age.ts";

/** Says whether a text is a public key of age (https://age-encryption.org). */
export function isRecipient(text: string): boolean {
	const { Encrypter } = age();
	try {
		new Encrypter().addRecipient(text);
		return true;
	} catch {
		return false;
	}
}
