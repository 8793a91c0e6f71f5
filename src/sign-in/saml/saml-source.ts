import type { Pool } from "pg";
import type { Attempt } from "../oidc/attempt.ts";
import type { Claims } from "../oidc/read-claims.ts";
import type { IdentityProviderRow } from "../providers/identity-provider-store.ts";
import { countAttempt, QUARTER } from "../sign-in-throttle.ts";
import { answerFrom, claimsIn, readAnswer, type SamlAnswer } from "./answer.ts";
import { type ServiceProvider, signInAddress } from "./messages.ts";
import { RefusedAnswer } from "./refusals.ts";
import { verifyResponse } from "./verify-response.ts";

/** The path of everything that concerns SAML. The provider's id follows. */
export const SAML_PATH = "/api/sign-in-with-provider/saml";

/** Returns how this service is known to the provider with this id. */
export function serviceProviderOf(
	baseUrl: string,
	providerId: string,
): ServiceProvider {
	const answerUrl = `${baseUrl}${SAML_PATH}/${providerId}`;
	// Each provider knows the service by another name, so an assertion for one counts for no other.
	return { entityId: `${answerUrl}/metadata`, answerUrl };
}

/** The answer was refused when it came, and the log says why. */
export class RefusedBefore extends RefusedAnswer {}

interface Parts {
	pool: Pool;
	baseUrl: string;
	secret: string;
}

/** The parts of a source that differ for a provider that speaks SAML. */
export function askSaml(parts: Parts, row: IdentityProviderRow) {
	const service = serviceProviderOf(parts.baseUrl, row.id);
	return {
		startUrl: async (attempt: Attempt, mustAuthenticate: boolean) =>
			signInAddress(row.sign_in_url ?? "", service, {
				id: requestIdOf(attempt),
				mustAuthenticate,
				at: new Date(attempt.startedAt),
			}),

		/** Reads the answer that the browser keeps. It must fit to the attempt, and works once. */
		claimsOf: async (
			_query: string,
			attempt: Attempt,
			cookieHeader: string | null,
		): Promise<Claims> => {
			const answer = readAnswer(parts, cookieHeader);
			if (answer?.providerId !== row.id) throw new RefusedAnswer("NO_ANSWER");
			const { said, refusal = "NO_ANSWER" } = answer;
			if (!said) throw new RefusedBefore(refusal);
			if (said.inResponseTo !== requestIdOf(attempt)) {
				throw new RefusedAnswer("OTHER_REQUEST");
			}
			// The attempt ends after ten minutes, so nobody can use the answer after the 15 minutes.
			const { waitSeconds } = await countAttempt(
				parts.pool,
				`saml ${row.id} ${said.assertionId}`,
				{ allowed: 1, window: QUARTER },
			);
			if (waitSeconds > 0) throw new RefusedAnswer("USED_BEFORE");
			return claimsIn(said);
		},

		/** Verifies a response that the provider's page has sent. `given` is in base64. */
		receive: (given: string): SamlAnswer => {
			const xml = Buffer.from(given, "base64").toString("utf8");
			const assertion = verifyResponse(xml, {
				issuer: row.issuer,
				audience: service.entityId,
				recipient: service.answerUrl,
				certificates: row.certificates,
				now: new Date(),
			});
			return answerFrom(assertion, row);
		},

		signOutUrl: async () => row.sign_out_url ?? undefined,
	};
}

/** The id of a request begins with a letter or _ (XML Schema, type ID). */
function requestIdOf({ state }: Attempt): string {
	return `_${state}`;
}
