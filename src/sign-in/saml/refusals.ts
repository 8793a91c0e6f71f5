/** Why an answer of a SAML provider is refused. The log and the pages of the console use the words. */
export const REFUSALS = {
	NO_RESPONSE: "it is not a SAML response",
	BROKEN_XML:
		"its XML is broken, lacks a part that an answer needs, or contains a part that it must not have",
	NO_SUCCESS: "the provider says that it did not sign the person in",
	ENCRYPTED:
		"the assertion is encrypted; switch encryption of assertions off at the provider",
	NOT_ONE_ASSERTION:
		"it must contain exactly one assertion, directly in the response",
	MISPLACED_SIGNATURE: "a signature is in a wrong place, or an id occurs twice",
	UNSIGNED: "neither the assertion nor the response is signed",
	OTHER_ALGORITHM:
		"it must be signed in the usual form: RSA, SHA-256 or SHA-512, and exclusive canonicalization",
	OTHER_PART_SIGNED: "the signature covers something else",
	OTHER_KEY:
		"no certificate in the settings matches the signature, or somebody changed the signed part",
	OTHER_ISSUER:
		"another provider issued it; compare the entity id in the settings",
	OTHER_AUDIENCE:
		"it is for another audience; enter the entity id of Assay at the provider",
	OTHER_RECIPIENT:
		"it is for another address; enter the ACS address of Assay at the provider",
	UNKNOWN_CONDITION: "it has a condition that Assay does not know",
	TOO_EARLY:
		"it is not valid yet; compare the clocks of the provider and of Assay",
	EXPIRED: "it has expired; compare the clocks of the provider and of Assay",
	BAD_TIME: "it does not say in the usual form until when it is valid",
	BAD_NAME_ID:
		"its NameID must have 1 to 256 characters and stay the same for the person; choose a persistent one at the provider",
	NOT_BEARER: "its subject confirmation is not of the kind bearer",
	NO_SIGN_IN: "it does not say that the person signed in",
	NO_ANSWER: "the browser did not bring an answer of the provider",
	OTHER_REQUEST:
		"it does not answer the request that this browser made; open Assay first, and sign in from there",
	USED_BEFORE: "it was used before",
} as const;

export type SamlRefusal = keyof typeof REFUSALS;

/** An answer of a SAML provider that must not sign anybody in. */
export class RefusedAnswer extends Error {
	readonly code: SamlRefusal;

	/** `detail` is for the log. It may quote the names of elements, but no value that identifies. */
	constructor(code: SamlRefusal, detail = "") {
		super(detail === "" ? REFUSALS[code] : `${REFUSALS[code]} (${detail})`);
		this.code = code;
	}
}

/** Throws a RefusedAnswer with the code unless the condition holds. */
export function refuseUnless(
	condition: boolean,
	code: SamlRefusal,
	detail = "",
): asserts condition {
	if (!condition) throw new RefusedAnswer(code, detail);
}
