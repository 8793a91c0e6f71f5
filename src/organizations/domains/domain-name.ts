import { domainToASCII } from "node:url";
import { lineSchema } from "../../records/text-schemas.ts";

/** Longest name of a domain in its ASCII form, which RFC 1035 limits. */
export const MAX_DOMAIN = 253;

/** Longest name that leaves room for the name of the TXT record before it. */
const MAX_VERIFIABLE = MAX_DOMAIN - "_assay-challenge.".length;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns a domain in lower case and in its ASCII form, such as `xn--mnchen-3ya.example`. Returns
 * undefined if the text is not the full name of a domain, for example an address or one word.
 */
export function readDomain(text: string): string | undefined {
	if (text.length > MAX_DOMAIN) return undefined;
	const ascii = domainToASCII(text.trim().replace(/\.$/, "")).toLowerCase();
	const labels = ascii.split(".");
	const [last = ""] = labels.slice(-1);
	const isDomain =
		ascii.length <= MAX_VERIFIABLE &&
		labels.length >= 2 &&
		labels.every((label) => LABEL.test(label)) &&
		// The last part of an IPv4 address is a number.
		!/^\d+$/.test(last);
	return isDomain ? ascii : undefined;
}

/** Returns a schema for the name of a domain. Its output is what `readDomain` returns. */
export function domainSchema() {
	return lineSchema(MAX_DOMAIN)
		.refine((text) => readDomain(text) !== undefined, {
			error: "must be the full name of a domain, such as example.com",
			abort: true,
		})
		.transform((text) => readDomain(text) ?? text);
}
