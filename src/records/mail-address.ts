/**
 * Returns an e-mail address in the form in which Assay stores and compares addresses. Two addresses
 * that differ only in case or in spaces around them are the same.
 */
export function normalAddress(text: string): string {
	return text.trim().toLowerCase();
}

/** Returns the domain of an e-mail address, in lower case. */
export function domainOf(address: string): string {
	return normalAddress(address).slice(address.trim().lastIndexOf("@") + 1);
}
