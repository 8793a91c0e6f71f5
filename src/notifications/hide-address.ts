/** A shorter beginning of an address tells nothing. */
const MIN_BEGINNING = 12;

/**
 * Leaves the address of a chat, which is a secret, out of an error or an answer. Error pages often
 * repeat the path. A text that was cut may end with the beginning of it.
 */
export function hideAddress(text: string, address: string): string {
	const { pathname, search, hash } = new URL(address);
	const secrets = [
		address,
		pathname + search + hash,
		pathname + search,
		pathname,
	]
		.flatMap((part) => [part, unescaped(part)])
		.filter((part) => part.length > 1);
	let rest = text;
	for (const secret of secrets) rest = rest.replaceAll(secret, "[address]");
	for (const secret of secrets) {
		for (let length = secret.length; length >= MIN_BEGINNING; length--) {
			if (!rest.endsWith(secret.slice(0, length))) continue;
			rest = `${rest.slice(0, -length)}[address]`;
			break;
		}
	}
	return rest;
}

function unescaped(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
