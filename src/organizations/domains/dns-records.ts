import { Resolver } from "node:dns/promises";

/** Wait for one name server, and how often it is asked. */
const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** Longest look in all, with several name servers. */
const MAX_LOOK_MS = 10_000;

const NO_RECORD = new Set(["ENOTFOUND", "ENODATA"]);

/** The result of a look for the TXT record. */
export type Found =
	| "PROVED"
	/** The name has no TXT record. */
	| "NOT_FOUND"
	/** The name has TXT records, and none with the right text. */
	| "OTHER_VALUE"
	/** No name server gave an answer. This says nothing about the record. */
	| "NO_ANSWER";

/** Returns the name of the TXT record that proves a domain. */
export function recordName(domain: string): string {
	return `_assay-challenge.${domain}`;
}

/** Returns the text of the TXT record that proves a domain. */
export function recordValue(challenge: string): string {
	return `assay-verify=${challenge}`;
}

/**
 * Looks for the TXT record that proves the domain. Asks the name servers of the operating system,
 * unless `servers` names others.
 */
export async function lookForRecord(
	domain: string,
	challenge: string,
	servers?: readonly string[],
): Promise<Found> {
	const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
	if (servers) resolver.setServers(servers);
	const timer = setTimeout(() => resolver.cancel(), MAX_LOOK_MS);
	try {
		const records = await resolver.resolveTxt(recordName(domain));
		// A long text is sent in several parts.
		const isProved = records.some(
			(parts) => parts.join("").trim() === recordValue(challenge),
		);
		return isProved ? "PROVED" : "OTHER_VALUE";
	} catch (error) {
		const { code = "" } = error as NodeJS.ErrnoException;
		return NO_RECORD.has(code) ? "NOT_FOUND" : "NO_ANSWER";
	} finally {
		clearTimeout(timer);
	}
}
