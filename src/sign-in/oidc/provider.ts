import type {
	Configuration,
	CustomFetchOptions,
	IDToken,
	UserInfoResponse,
} from "openid-client";
import type { OidcConfig } from "../../config/read-oidc.ts";
import { fetchOutgoing } from "../../webhooks/fetch-outgoing.ts";
import type { OutgoingRule } from "../../webhooks/outgoing-address.ts";

/** What the provider says about the person who has just signed in there. */
export interface Claims {
	/** The person's identifier at the provider. It stays the same when the address changes. */
	subject: string;
	email: string | undefined;
	/** Undefined if the provider does not say whether the address is verified. */
	isEmailVerified: boolean | undefined;
	name: string | undefined;
	groups: readonly string[];
	/** The time at which the person last gave a password or the like to the provider. */
	authenticatedAt: Date | undefined;
	/** The ID token itself, with which the person can sign out at the provider. */
	idToken?: string | undefined;
}

/** Secrets of one attempt to sign in. The answer of the provider must fit to all of them. */
export interface AttemptSecrets {
	state: string;
	nonce: string;
	/** The code verifier of PKCE (RFC 7636). */
	verifier: string;
}

/** The person pressed "Cancel" at the provider, or the provider refused the person. */
export class SignInCancelled extends Error {}

/** The parts that a request to a provider needs. */
export type ProviderAccess = Pick<
	OidcConfig,
	"issuer" | "clientId" | "clientSecret"
> & {
	/** Name of the claim with the person's groups. The default is "groups". */
	groupsClaim?: string;
	/** True if groups give roles. */
	usesGroups?: boolean;
	/** True if an address counts although the provider does not call it verified. */
	trustsAddresses?: boolean;
	/**
	 * Decides which addresses may be asked. Undefined for a provider that the operator chose, which may
	 * be anywhere.
	 */
	rule?: OutgoingRule;
};

/** Milliseconds after which the provider's metadata is read again. */
const METADATA_MS = 3_600_000;
const TIMEOUT_SECONDS = 10;
/** Difference of the two clocks, in seconds, that makes no token invalid. */
const CLOCK_TOLERANCE_SECONDS = 60;
const MAX_GROUPS = 1_000;

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
		{ state, nonce, verifier }: AttemptSecrets,
		mustAuthenticate: boolean,
	): Promise<URL> {
		const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import(
			"openid-client"
		);
		const metadata = await this.metadata();
		return buildAuthorizationUrl(metadata, {
			redirect_uri: this.#redirectUri,
			scope: this.#scopeAt(metadata),
			state,
			nonce,
			code_challenge: await calculatePKCECodeChallenge(verifier),
			code_challenge_method: "S256",
			...(mustAuthenticate && { prompt: "login", max_age: "0" }),
		});
	}

	/**
	 * Exchanges the code in `query`, with which the browser came back from the provider. Throws
	 * SignInCancelled, or an error of openid-client if anything in the answer is not as it must be.
	 */
	async claimsOf(query: string, secrets: AttemptSecrets): Promise<Claims> {
		const { AuthorizationResponseError, authorizationCodeGrant } = await import(
			"openid-client"
		);
		const metadata = await this.metadata();
		const tokens = await authorizationCodeGrant(
			metadata,
			new URL(`${this.#redirectUri}?${query}`),
			{
				expectedState: secrets.state,
				expectedNonce: secrets.nonce,
				pkceCodeVerifier: secrets.verifier,
				idTokenExpected: true,
			},
		).catch((error) => {
			const wasRefused =
				error instanceof AuthorizationResponseError &&
				error.error === "access_denied";
			throw wasRefused ? new SignInCancelled() : error;
		});
		const token = tokens.claims();
		if (!token) throw new Error("the provider sent no ID token");
		const more = this.#isMissing(token)
			? await this.#userInfo(metadata, tokens.access_token, token.sub)
			: undefined;
		return {
			...claimsFrom(token, more, this.#config.groupsClaim),
			idToken: tokens.id_token,
		};
	}

	/**
	 * Returns the scopes to ask for. Some providers name groups only to clients that ask for the scope
	 * `groups`. Others refuse scopes that they do not know, so Assay asks for it only if the metadata
	 * names it.
	 */
	#scopeAt(metadata: Configuration): string {
		const { scopes_supported } = metadata.serverMetadata();
		const isAsked =
			this.#config.usesGroups && scopes_supported?.includes("groups");
		return `openid email profile${isAsked ? " groups" : ""}`;
	}

	/**
	 * Returns true if the ID token lacks a claim that Assay needs. The provider's userinfo endpoint
	 * may have it. Okta puts neither `email_verified` nor groups into the ID token, and other
	 * providers leave out the address too.
	 */
	#isMissing({ email, email_verified, ...others }: IDToken): boolean {
		const { trustsAddresses, usesGroups, groupsClaim } = this.#config;
		return (
			email === undefined ||
			(email_verified === undefined && !trustsAddresses) ||
			(usesGroups === true && others[groupsClaim ?? "groups"] === undefined)
		);
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

function claimsFrom(
	token: IDToken,
	more: Partial<UserInfoResponse> = {},
	groupsClaim = "groups",
): Claims {
	const { email_verified: isVerifiedThere, ...others } = more;
	// The endpoint may name another address, and then says nothing about this one.
	const isSameAddress = (token.email ?? more.email) === more.email;
	const claims: IDToken & Partial<UserInfoResponse> = {
		...others,
		...(isSameAddress &&
			isVerifiedThere !== undefined && { email_verified: isVerifiedThere }),
		...token,
	};
	const { sub, email, email_verified, name, auth_time } = claims;
	const groups = Object.hasOwn(claims, groupsClaim)
		? claims[groupsClaim]
		: undefined;
	return {
		subject: sub,
		email: typeof email === "string" ? email.trim().toLowerCase() : undefined,
		isEmailVerified:
			// Some providers send the word instead of the value.
			email_verified === undefined
				? undefined
				: email_verified === true || String(email_verified) === "true",
		name: typeof name === "string" ? name.trim() : undefined,
		groups: Array.isArray(groups)
			? groups.filter((one) => typeof one === "string").slice(0, MAX_GROUPS)
			: [],
		authenticatedAt:
			typeof auth_time === "number" ? new Date(auth_time * 1000) : undefined,
	};
}
