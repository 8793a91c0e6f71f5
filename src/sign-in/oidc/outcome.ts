import type { SamlRefusal } from "../saml/refusals.ts";
import type { Attempt, Wish } from "./attempt.ts";
import type { Refusal } from "./find-account.ts";

/** Why nobody is signed in. The pages of the console explain each. */
export type Problem =
	| Refusal
	/** The person pressed "Cancel", or the provider refused the person. */
	| "CANCELLED"
	/** This browser began no attempt, or began it more than ten minutes ago. */
	| "NO_ATTEMPT"
	/** No provider is in use for the address, or the provider was switched off. */
	| "NO_PROVIDER"
	/** Too many attempts came from this network. */
	| "TOO_MANY_ATTEMPTS"
	/** The provider does not answer, or its answer is wrong. The log says more. */
	| "PROVIDER_FAILED"
	/** This service could not finish the sign-in, for example without its database. */
	| "SERVICE_FAILED"
	/** Somebody confirmed to be another user than the one of the session. */
	| "OTHER_ACCOUNT"
	/** The provider let the person in without asking for the password again. */
	| "NOT_ASKED_AGAIN"
	/** Assay knows no page of the provider for signing out. */
	| "STILL_SIGNED_IN_THERE"
	/** Assay could not find out whether the provider has a page for signing out. */
	| "MAYBE_SIGNED_IN_THERE";

/** The problem, or the cookies of the session. */
export interface Outcome {
	problem?: Problem;
	/** Why the answer of a SAML provider was refused. */
	why?: SamlRefusal;
	cookies?: string[];
	/** The request that the browser sends to the provider instead. */
	instead?: Wish;
	/** The result of a test. */
	tested?: { email: string; role: string };
}

/** Returns the page that opens after an attempt. */
export function pageOf(
	{ confirms, to, tests }: Pick<Attempt, "confirms" | "to" | "tests">,
	{ problem, why, tested }: Outcome,
): string {
	if (!problem && !confirms && !tests) return to;
	const query = new URLSearchParams({
		...(!confirms && !tests && to !== "/" && { to }),
		...(problem && { problem }),
		...(why && { why }),
		...tested,
	});
	const page = tests
		? "/provider-tested"
		: confirms
			? "/confirmed"
			: "/sign-in";
	return query.size > 0 ? `${page}?${query}` : page;
}
