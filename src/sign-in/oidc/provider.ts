import type {
	Configuration,
	CustomFetchOptions,
	IDToken,
	UserInfoResponse,
} from "openid-client";
import type { OidcConfig } from "../../config/read-oidc.ts";
import { fetchOutgoing } from "../../outgoing/fetch-outgoing.ts";
import type { OutgoingRule } from "../../outgoing/outgoing-address.ts";
import { HOUR_MS } from "../../units.ts";
import {
	type ClaimRules,
	type Claims,
	GOOGLE,
	missingIn,
	readClaims,
} from "./read-claims.ts";

/** Secrets of one attempt to sign in. The answer of the provider must fit to all of them. */
export interface AttemptSecrets {
	state: string;
	nonce: string;
	/** The code verifier of PKCE (RFC 7636). */
	verifier: string;
}

/** The parts of an attempt on which the questions to the provider depend. */
export interface AttemptAsked extends AttemptSecrets {
	/** True if the person only confirms who they are. */
	confirms?: boolean;
	/** True if the provider refused the scope `groups` a moment ago. */
	withoutGroupsScope?: true;
}

/** The person pressed "Cancel" at the provider, or the provider refused the person. */
export class SignInCancelled extends Error {}

/**
 * The provider refused the scope `groups`, which its metadata names. Keycloak does so for a client to
 * which the scope is not assigned.
 */
export class GroupsScopeRefused extends Error {}

/** The parts that a request to a provider needs. */
export type ProviderAccess = Pick<
	OidcConfig,
	"issuer" | "clientId" | "clientSecret"
> &
	ClaimRules & {
		/**
		 * Decides which addresses may be asked. Undefined for a provider that the operator chose, which
		 * may be anywhere.
		 */
		rule?: OutgoingRule;
	};

/** Milliseconds after which the provider's metadata is read again. */
const METADATA_MS = HOUR_MS;
const TIMEOUT_SECONDS = 10;
/** Difference of the two clocks, in seconds, that makes no token invalid. */
export const CLOCK_TOLERANCE_SECONDS = 60;

/**
 * An identity provider that speaks OpenID Connect, asked with the authorization code flow and PKCE.
 * openid-client checks state, nonce, issuer (RFC 9207 too), audience, times and the signature.
 */
export class OidcProvider {
	readonly #config: ProviderAccess;
	readonly #redirectUri: string;
	#metadata: { readAt: number; found: Promise<Configuration> } | undefined;

	constructor(config: ProviderAccess, redirectUri: string) {
		this.#config = config;
		this.#redirectUri = redirectUri;
	}

	/**
	 * Returns the address at the provider to which the browser goes. With `mustAuthenticate`, the
	 * provider shall ask for the password even of somebody who is signed in there.
	 */
	async authorizationUrl(
		attempt: AttemptAsked,
		mustAuthenticate: boolean,
	): Promise<URL> {
		const { state, nonce, verifier } = attempt;
		const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import(
			"openid-client"
		);
		const metadata = await this.metadata();
		return buildAuthorizationUrl(metadata, {
			redirect_uri: this.#redirectUri,
			scope: `openid email profile${this.#asksForGroups(metadata, attempt) ? " groups" : ""}`,
			state,
			nonce,
			code_challenge: await calculatePKCECodeChallenge(verifier),
			code_challenge_method: "S256",
			...(mustAuthenticate && {
				prompt: promptOf(this.#config.issuer),
				max_age: "0",
			}),
		});
	}

	/**
	 * Exchanges the code in `query`, with which the browser came back from the provider. Throws
	 * SignInCancelled, GroupsScopeRefused, or an error of openid-client if anything in the answer is
	 * not as it must be.
	 */
	async claimsOf(query: string, attempt: AttemptAsked): Promise<Claims> {
		const { AuthorizationResponseError, authorizationCodeGrant } = await import(
			"openid-client"
		);
		const metadata = await this.metadata();
		const tokens = await authorizationCodeGrant(
			metadata,
			new URL(`${this.#redirectUri}?${query}`),
			{
				expectedState: attempt.state,
				expectedNonce: attempt.nonce,
				pkceCodeVerifier: attempt.verifier,
				idTokenExpected: true,
			},
		).catch((error) => {
			const said =
				error instanceof AuthorizationResponseError ? error.error : undefined;
			if (said === "access_denied") throw new SignInCancelled();
			if (said === "invalid_scope" && this.#asksForGroups(metadata, attempt)) {
				throw new GroupsScopeRefused();
			}
			throw error;
		});
		const token = tokens.claims();
		if (!token) throw new Error("the provider sent no ID token");
		const claims = attempt.confirms
			? readClaims(token, {}, this.#config)
			: await this.#claimsFrom(metadata, tokens.access_token, token);
		return { ...claims, idToken: tokens.id_token };
	}

	/**
	 * Returns true if Assay asks for the scope `groups`. Some providers name groups only to clients
	 * that ask for it. Others refuse scopes that they do not know, so Assay asks for it only if groups
	 * give roles and the metadata names it.
	 */
	#asksForGroups(
		metadata: Configuration,
		{ withoutGroupsScope }: AttemptAsked,
	): boolean {
		const { scopes_supported } = metadata.serverMetadata();
		return (
			this.#config.usesGroups === true &&
			!withoutGroupsScope &&
			scopes_supported?.includes("groups") === true
		);
	}

	/**
	 * Reads the claims, also from the userinfo endpoint if the ID token lacks some. Without an answer
	 * of that endpoint, the ID token must say the address. The groups are then unknown.
	 */
	async #claimsFrom(
		metadata: Configuration,
		accessToken: string,
		token: IDToken,
	): Promise<Claims> {
		const missing = missingIn(token, this.#config);
		if (!missing.address && !missing.groups) {
			return readClaims(token, {}, this.#config);
		}
		try {
			const more = await this.#userInfo(metadata, accessToken, token.sub);
			return readClaims(token, more ?? {}, this.#config);
		} catch (error) {
			// An answer about another person is a sign of an attack, not of trouble.
			const isAboutOther =
				(error as { code?: unknown }).code ===
				"OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";
			if (missing.address || isAboutOther) throw error;
			return {
				...readClaims(token, {}, this.#config),
				groups: undefined,
				groupsProblem: error,
			};
		}
	}

	/**
	 * Returns the address at the provider that ends the person's session there, if it names one. The
	 * browser then comes back to `returnTo`.
	 */
	async signOutUrl(
		returnTo: string,
		idToken: string | undefined,
	): Promise<string | undefined> {
		const { end_session_endpoint } = (await this.metadata()).serverMetadata();
		const url = URL.parse(end_session_endpoint ?? "");
		if (!url || !/^https?:$/.test(url.protocol)) return undefined;
		url.searchParams.set("client_id", this.#config.clientId);
		url.searchParams.set("post_logout_redirect_uri", returnTo);
		if (idToken) url.searchParams.set("id_token_hint", idToken);
		return url.href;
	}

	/** Returns the provider's metadata, and reads it if it was not read within the last hour. */
	metadata(): Promise<Configuration> {
		const known = this.#metadata;
		if (known && Date.now() - known.readAt < METADATA_MS) return known.found;
		const found = this.#discover();
		this.#metadata = { readAt: Date.now(), found };
		found.catch(() => {
			// The metadata of before is better than none. The next sign-in tries again.
			if (this.#metadata?.found === found) {
				this.#metadata = known && { ...known, readAt: 0 };
			}
		});
		return known ? found.catch(() => known.found) : found;
	}

	async #discover(): Promise<Configuration> {
		const client = await import("openid-client");
		const { issuer, clientId, clientSecret, rule } = this.#config;
		const url = new URL(issuer);
		return client.discovery(
			url,
			clientId,
			{ [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
			(server, ...request) => {
				const isPosted =
					server.token_endpoint_auth_methods_supported?.includes(
						"client_secret_post",
					);
				// A provider that says nothing knows only the other method (RFC 8414, section 2).
				const authenticate = isPosted
					? client.ClientSecretPost(clientSecret)
					: client.ClientSecretBasic(clientSecret);
				return authenticate(server, ...request);
			},
			{
				timeout: TIMEOUT_SECONDS,
				execute: [
					// Without this, openid-client trusts TLS alone and does not check signatures.
					client.enableNonRepudiationChecks,
					...(url.protocol === "http:" ? [client.allowInsecureRequests] : []),
				],
				...(rule && {
					[client.customFetch]: (
						address: string,
						{ method, headers, body }: CustomFetchOptions,
					) =>
						fetchOutgoing(new URL(address), rule, {
							method,
							headers,
							body: body == null ? undefined : String(body),
							maxMs: TIMEOUT_SECONDS * 1000,
						}),
				}),
			},
		);
	}

	async #userInfo(
		metadata: Configuration,
		accessToken: string,
		subject: string,
	): Promise<UserInfoResponse | undefined> {
		if (!metadata.serverMetadata().userinfo_endpoint) return undefined;
		const { fetchUserInfo } = await import("openid-client");
		return fetchUserInfo(metadata, accessToken, subject);
	}
}

/**
 * Returns the prompt with which a provider asks who the person is, also if the person is signed in
 * there. Google refuses "login" and never asks for the password again. It can let the person choose
 * the account.
 */
export function promptOf(issuer: string): "login" | "select_account" {
	return issuer === GOOGLE ? "select_account" : "login";
}
