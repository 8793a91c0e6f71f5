import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OidcConfig, PasswordSignIn } from "../config/read-oidc.ts";
import { AppError } from "../errors.ts";
import type { From } from "../sign-in/exchange.ts";
import {
	CALLBACK_PATH,
	type ProviderSignIn,
	type Redirect,
} from "../sign-in/oidc/sign-in-with-provider.ts";
import { relyingPartyId } from "../sign-in/passkeys/relying-party.ts";

export interface ProviderParts {
	baseUrl: string;
	passwordSignIn: PasswordSignIn;
	/** The identity provider. Undefined if people sign in only with passwords. */
	oidc: { config: OidcConfig; signIn: ProviderSignIn } | undefined;
	/** Returns the id of the request's session, if there is one. */
	sessionIdOf: (request: FastifyRequest) => Promise<string | undefined>;
	fromOf: (request: FastifyRequest) => From;
}

/** The ways to sign in, which the console shows to somebody who is not signed in. */
export interface SignInWays {
	/** Name of the identity provider, or null if there is none. */
	provider: string | null;
	/** True if everybody may sign in with a password. */
	has_passwords: boolean;
	/** True if the service has a name, which passkeys need. */
	has_passkeys: boolean;
}

const MAX_PATH = 2_000;

/**
 * Adds the routes of the sign-in with an identity provider. A browser follows the last two as links,
 * so they answer with redirects, also when something is wrong.
 *
 *     GET /api/sign-in-ways                      → SignInWays
 *     GET /api/sign-in-with-provider             ?to=PATH or ?confirm=1 → the provider
 *     GET /api/sign-in-with-provider/callback    the provider sends the browser here
 */
export function addProviderSignIn(
	app: FastifyInstance,
	{ baseUrl, passwordSignIn, oidc, sessionIdOf, fromOf }: ProviderParts,
): void {
	const ways: SignInWays = {
		provider: oidc?.config.name ?? null,
		has_passwords: passwordSignIn === "everybody",
		has_passkeys: relyingPartyId(baseUrl) !== undefined,
	};
	app.get(
		"/api/sign-in-ways",
		{ config: { admits: "page" } },
		async () => ways,
	);
	if (!oidc) return;
	const { signIn } = oidc;

	app.get<{ Querystring: { to?: unknown; confirm?: unknown } }>(
		"/api/sign-in-with-provider",
		{ config: { admits: "visitor" } },
		async (request, reply) => {
			const { to, confirm } = request.query;
			const sessionId = await sessionIdOf(request);
			const confirms = confirm !== undefined;
			if (confirms && sessionId === undefined) {
				throw new AppError(
					"unauthorized",
					"you are not signed in, or your session has ended; sign in",
				);
			}
			const redirect = await signIn.begin({
				to: ownPath(to, baseUrl),
				confirms,
				...(sessionId !== undefined && { sessionId }),
			});
			return send(reply, redirect);
		},
	);

	app.get(
		CALLBACK_PATH,
		{ config: { admits: "visitor" } },
		async (request, reply) => {
			const query = request.url.split("?").slice(1).join("?");
			const cookies = request.headers.cookie ?? null;
			return send(reply, await signIn.finish(query, cookies, fromOf(request)));
		},
	);
}

function send(reply: FastifyReply, { location, cookies }: Redirect) {
	for (const cookie of cookies) reply.header("set-cookie", cookie);
	return reply.redirect(location, 302);
}

/** Returns the path to which `to` leads, or / if it leads to another website. */
function ownPath(to: unknown, baseUrl: string): string {
	if (typeof to !== "string" || to.length > MAX_PATH) return "/";
	const url = URL.parse(to, baseUrl);
	if (url?.origin !== baseUrl) return "/";
	// A browser would read a path that begins with two slashes as the address of another host.
	return `/${url.pathname.replace(/^\/+/, "")}${url.search}${url.hash}`;
}
