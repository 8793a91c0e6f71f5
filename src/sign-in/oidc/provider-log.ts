import { withoutAddresses } from "../../log.ts";
import type { AuthParts } from "../better-auth.ts";
import type { From } from "../exchange.ts";
import type { Source } from "../providers/sources.ts";
import type { SamlRefusal } from "../saml/refusals.ts";
import type { Problem } from "./outcome.ts";

/** Longest part, in characters, of what the provider says about an error that is logged. */
const MAX_LOGGED = 200;

/** Makes the functions that log why a sign-in with an identity provider failed. */
export function makeProviderLog(log: AuthParts["log"]) {
	return { logFailure, logRefusal, logRefusedScope };

	/**
	 * Logs why the provider's answer was refused. The cause of such an error may contain the answer
	 * with names and tokens, so of the answer only the two fields that describe an error are logged.
	 */
	function logFailure({ issuer, row }: Source, thrown: unknown): void {
		const { message, code, cause, ...rest } = thrown as Error & {
			code?: string;
			error?: unknown;
			error_description?: unknown;
		};
		const said = [rest.error, rest.error_description]
			.filter((text) => typeof text === "string")
			.map((text) => withoutAddresses(text).slice(0, MAX_LOGGED));
		log.error(
			{
				event: "provider_failed",
				issuer,
				...(row && { provider: row.id }),
				code,
				reason: message,
				...(cause instanceof Error && { cause: cause.message }),
				...(said.length > 0 && { said: said.join(": ") }),
			},
			"the identity provider did not answer, or its answer was refused",
		);
	}

	function logRefusedScope({ issuer, row }: Source): void {
		log.warn(
			{
				event: "groups_scope_refused",
				issuer,
				...(row && { provider: row.id }),
			},
			"the identity provider refused the scope groups, which its metadata names; Assay asks again without it; assign the scope to the client at the provider if the groups are missing",
		);
	}

	function logRefusal(
		reason: Problem,
		provider: string | undefined,
		{ address }: From,
		why?: SamlRefusal,
	): void {
		log.warn(
			{
				event: "sign_in_failed",
				way: "PROVIDER",
				reason,
				...(why && { why }),
				...(provider && { provider }),
				address,
			},
			"a sign-in failed",
		);
	}
}
