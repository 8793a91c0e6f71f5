import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";

/** A person at the identity provider. Each property but `sub` is a claim. */
export interface PersonAtProvider {
	sub: string;
	email?: string;
	email_verified?: boolean | undefined;
	name?: string;
	groups?: string[];
	/** The address in the ID token, if it is another one there. Only LIKE_OKTA. */
	email_in_token?: string;
	[claim: string]: unknown;
}

export const CLIENT_ID = "assay";
export const CLIENT_SECRET = "what the provider knows the service by";

export interface IdentityProvider {
	issuer: string;
	/** The settings that make a service use this provider for addresses of `domains`. */
	settings: (domains: string) => Record<string, string>;
	/** Makes the provider behave in another way. Forgets the sessions at the provider. */
	change: (options: Options) => void;
	/** Allows a service at this address to use the provider. */
	allow: (baseUrl: string) => void;
	/** Allows exactly this redirect address. */
	allowRedirect: (address: string) => void;
	/** Signs the next visitors in as this person, without a page. Undefined: they press "Cancel". */
	signInAs: (person: PersonAtProvider | undefined) => void;
	/** Replaces the signing key, as providers do from time to time. */
	rotateKeys: () => Promise<void>;
	/** Answers the userinfo endpoint with this status and body, until it is called without them. */
	answerUserInfo: (status?: number, body?: object) => void;
	/** Addresses that were asked, without their queries. */
	asked: string[];
	close: () => Promise<void>;
}

interface Options {
	/**
	 * What the ID token contains. FULL: everything. NO_ADDRESS: only the userinfo endpoint names the
	 * address. LIKE_OKTA: only that endpoint says whether the address is verified, and it names groups
	 * only to a client that has asked for the scope `groups`.
	 */
	tokens?: "FULL" | "NO_ADDRESS" | "LIKE_OKTA";
	/** The method with which clients must show their secret. */
	clientAuth?: "client_secret_post" | "client_secret_basic";
	/** The claims of each scope, if they are not the usual ones. */
	claims?: Record<string, readonly string[]>;
	/** Claims that the ID token does not contain. */
	onlyUserInfo?: readonly string[];
	/** Claims that only the ID token contains. */
	onlyIdToken?: readonly string[];
	/** The scopes that the client may ask for. The provider refuses others, also those that it knows. */
	clientScope?: string;
}

/**
 * Starts a real identity provider (oidc-provider). It has no pages: a visitor is signed in at once as
 * the person that the test has chosen.
 */
export async function startIdentityProvider(
	options: Options = {},
): Promise<IdentityProvider> {
	let behavior = options;
	let next: PersonAtProvider | undefined;
	const people = new Map<string, PersonAtProvider>();
	const redirectUris = ["http://localhost/not-yet-known"];
	let handle: ReturnType<Provider["callback"]>;
	let provider: Provider;
	const asked: string[] = [];
	let userInfo: { status: number; body: object } | undefined;

	const server = createServer(async (request, response) => {
		const [path = ""] = (request.url ?? "").split("?");
		asked.push(path);
		if (userInfo && path === "/me") {
			response.writeHead(userInfo.status, {
				"content-type": "application/json",
			});
			response.end(JSON.stringify(userInfo.body));
			return;
		}
		if (!request.url?.startsWith("/interaction/")) {
			return handle(request, response);
		}
		await provider.interactionFinished(
			request,
			response,
			next
				? { login: { accountId: next.sub } }
				: { error: "access_denied", error_description: "cancelled" },
		);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;

	firstKey ??= makeKey();
	let key = await firstKey;
	const start = () => {
		const {
			tokens = "FULL",
			clientAuth = "client_secret_post",
			claims,
			onlyUserInfo = [],
			onlyIdToken = [],
			clientScope,
		} = behavior;
		provider = new Provider(issuer, {
			clients: [
				{
					client_id: CLIENT_ID,
					client_secret: CLIENT_SECRET,
					redirect_uris: redirectUris,
					token_endpoint_auth_method: clientAuth,
					...(clientScope !== undefined && { scope: clientScope }),
				},
			],
			clientAuthMethods: [clientAuth],
			jwks: { keys: [key] },
			cookies: { keys: ["what the provider's cookies are signed with"] },
			conformIdTokenClaims: tokens === "NO_ADDRESS",
			claims: claims ?? {
				openid: ["sub"],
				email: ["email", "email_verified"],
				...(tokens === "LIKE_OKTA"
					? { profile: ["name"], groups: ["groups"] }
					: { profile: ["name", "groups"] }),
			},
			// Without these the provider prints advice for installations.
			adapter: class extends MemoryAdapter {},
			ttl: {
				Grant: 600,
				Session: 600,
				AccessToken: 600,
				IdToken: 600,
				Interaction: 600,
			},
			features: { devInteractions: { enabled: false } },
			interactions: { url: () => `/interaction/${crypto.randomUUID()}` },
			findAccount: async (_: unknown, sub: string) => ({
				accountId: sub,
				claims: async (use: string) => {
					const person = people.get(sub);
					return tokens === "LIKE_OKTA" && use === "id_token"
						? {
								sub,
								email: person?.email_in_token ?? person?.email,
								name: person?.name,
							}
						: {
								...person,
								...left(use === "id_token" ? onlyUserInfo : onlyIdToken),
							};
				},
			}),
			loadExistingGrant: async ({ oidc }) => {
				const grant = new oidc.provider.Grant({
					clientId: oidc.client.clientId,
					accountId: oidc.session.accountId,
				});
				grant.addOIDCScope("openid email profile groups");
				await grant.save();
				return grant;
			},
		});
		handle = provider.callback();
	};
	start();

	return {
		issuer,
		settings: (domains) => ({
			ASSAY_OIDC_ISSUER: issuer,
			ASSAY_OIDC_CLIENT_ID: CLIENT_ID,
			ASSAY_OIDC_CLIENT_SECRET: CLIENT_SECRET,
			ASSAY_OIDC_NAME: "Example Inc.",
			ASSAY_OIDC_DOMAINS: domains,
		}),
		change: (options) => {
			behavior = options;
			start();
		},
		allow: (baseUrl) => {
			redirectUris.push(`${baseUrl}/api/sign-in-with-provider/callback`);
			start();
		},
		allowRedirect: (address) => {
			redirectUris.push(address);
			start();
		},
		signInAs: (person) => {
			next = person;
			if (person) people.set(person.sub, person);
		},
		rotateKeys: async () => {
			key = await makeKey();
			start();
		},
		answerUserInfo: (status, body = {}) => {
			userInfo = status === undefined ? undefined : { status, body };
		},
		asked,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Returns an object that takes these claims away from another one. */
const left = (names: readonly string[]) =>
	Object.fromEntries(names.map((name) => [name, undefined]));

/** The key that each provider of this process begins with, because making one takes 0.2 s. */
let firstKey: ReturnType<typeof makeKey> | undefined;

async function makeKey() {
	const { privateKey } = await generateKeyPair("RS256", { extractable: true });
	const kid = crypto.randomUUID();
	return { ...(await exportJWK(privateKey)), kid, use: "sig", alg: "RS256" };
}
