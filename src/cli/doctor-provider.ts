import type { OidcConfig } from "../config/read-oidc.ts";
import { plainReason } from "../errors.ts";
import { OidcProvider } from "../sign-in/oidc/provider.ts";
import type { Finding } from "./doctor.ts";

const check = "identity provider";

/**
 * Reads the provider's metadata. Only a real sign-in shows whether the provider knows this service
 * and its secret.
 */
export async function examineProvider(config: OidcConfig): Promise<Finding> {
	const { issuer, newcomers } = config;
	try {
		// Nothing is sent to the address for answers, so any address does.
		const provider = new OidcProvider(config, issuer);
		await provider.metadata();
	} catch (error) {
		const { message, cause } = error as Error;
		const why =
			cause instanceof Error
				? `${message}: ${plainReason(cause.message)}`
				: message;
		return {
			check,
			status: "problem",
			found: `${issuer} does not answer with the metadata of an identity provider (${why})`,
			advice: `open ${issuer.replace(/\/$/, "")}/.well-known/openid-configuration, and set ASSAY_OIDC_ISSUER to its "issuer"; for a private certificate authority set NODE_EXTRA_CA_CERTS`,
		};
	}
	return {
		check,
		status: "ok",
		found: `${issuer} answers; ${newcomers ? "new people join an organization" : "new people need an account or an invitation"}; only a sign-in shows whether its client id and secret are right`,
	};
}
