import type { Logger } from "pino";
import { z } from "zod";
import { AppError } from "../errors.ts";
import type { OauthClient } from "./clients.ts";
import { isRegisteredRedirect, redirectTo } from "./redirect-uri.ts";
import { logRefusedClient } from "./refusal-log.ts";

/** The address of the tool server, which is the resource that an access token is for (RFC 8707). */
export const RESOURCE_PATH = "/api/mcp/v1";

const text = (max: number) => z.string().max(max);

/** The parameters of an authorization request that Assay reads (OAuth 2.1, section 4.1.1). */
export const authorizationInput = z.object({
	client_id: text(2000).min(1),
	redirect_uri: text(2000).optional(),
	response_type: text(100).optional(),
	code_challenge: text(200).optional(),
	code_challenge_method: text(100).optional(),
	state: text(2000).optional(),
	scope: text(1000).optional(),
	resource: text(2000).optional(),
});
export type AuthorizationInput = z.output<typeof authorizationInput>;

export interface AuthorizationRequest {
	redirectUri: string;
	codeChallenge: string;
	/** True if the client asked only for `read`. */
	isReadOnly: boolean;
}

/** An error in a request, and the address that reports it to the client. */
export interface RefusedRequest {
	errorUrl: string;
	message: string;
}

/**
 * Checks an authorization request. Returns the request, or the error with the address that reports
 * it to the client. Throws bad_request if the client's redirect URI is wrong, because then no
 * address can be trusted with an error. In that case, it also logs the network address of the user.
 */
export function checkAuthorization(
	client: OauthClient,
	input: AuthorizationInput,
	{ baseUrl, log }: { baseUrl: string; log: Logger },
	{ address }: { address?: string },
): AuthorizationRequest | RefusedRequest {
	const redirectUri = redirectUriOf(client, input);
	if (redirectUri === undefined) {
		logRefusedClient(log, {
			reason: "REDIRECT_URI",
			clientId: client.id,
			address,
		});
		throw new AppError(
			"bad_request",
			"redirect_uri is not one of those that the client named; the request may come from another program than it says",
		);
	}
	const problem = problemOf(input, baseUrl);
	if (problem) {
		const [error, error_description] = problem;
		return {
			message: error_description,
			errorUrl: redirectTo(redirectUri, {
				error,
				error_description,
				state: input.state,
				iss: baseUrl,
			}),
		};
	}
	const scopes = scopesOf(input);
	return {
		redirectUri,
		codeChallenge: input.code_challenge ?? "",
		isReadOnly: scopes.includes("read") && !scopes.includes("write"),
	};
}

/** Returns the redirect URI of a request, or undefined if the client did not name it. */
function redirectUriOf(
	{ redirectUris }: OauthClient,
	{ redirect_uri }: AuthorizationInput,
): string | undefined {
	const [only, ...others] = redirectUris;
	const asked = redirect_uri ?? (others.length === 0 ? only : undefined);
	return asked !== undefined && isRegisteredRedirect(redirectUris, asked)
		? asked
		: undefined;
}

/** The scopes that a client may ask for. The user decides on the consent page. */
export const SCOPES = ["read", "write"] as const;

const scopesOf = ({ scope }: AuthorizationInput) =>
	(scope ?? "").split(" ").filter((name) => name !== "");

function problemOf(
	input: AuthorizationInput,
	baseUrl: string,
): readonly [code: string, description: string] | undefined {
	if (input.response_type !== "code") {
		return ["unsupported_response_type", "response_type must be code"];
	}
	if (input.code_challenge_method !== "S256") {
		return ["invalid_request", "code_challenge_method must be S256"];
	}
	if (!/^[\w-]{43}$/.test(input.code_challenge ?? "")) {
		return [
			"invalid_request",
			"code_challenge must be the SHA-256 of the code verifier in base64url",
		];
	}
	if (!isOurResource(input.resource, baseUrl)) {
		return ["invalid_target", `resource must be ${baseUrl}${RESOURCE_PATH}`];
	}
	const unknown = scopesOf(input).find(
		(name) => !(SCOPES as readonly string[]).includes(name),
	);
	if (unknown !== undefined) {
		return ["invalid_scope", `scope may contain ${SCOPES.join(" and ")}`];
	}
	return undefined;
}

/** Returns true if a client that names its resource means this service. */
export function isOurResource(
	resource: string | undefined,
	baseUrl: string,
): boolean {
	if (resource === undefined) return true;
	const plain = resource.replace(/\/$/, "");
	return plain === baseUrl || plain === `${baseUrl}${RESOURCE_PATH}`;
}
