import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Pool } from "pg";
import type { PasswordSignIn } from "../config/read-oidc.ts";
import { AppError } from "../errors.ts";
import { type Principal, roleReaches } from "../principal.ts";
import type { From } from "../sign-in/exchange.ts";
import { notSignedIn } from "../sign-in/not-signed-in.ts";
import { SIGN_OUT_PATH } from "../sign-in/oidc/id-token-cookie.ts";
import type {
	ProviderSignIn,
	Redirect,
} from "../sign-in/oidc/sign-in-with-provider.ts";
import { relyingPartyId } from "../sign-in/passkeys/relying-party.ts";
import {
	findProviderOfAddress,
	hasProviderOfAddresses,
} from "../sign-in/providers/identity-provider-store.ts";
import { CALLBACK_PATH } from "../sign-in/providers/sources.ts";

export interface ProviderParts {
	baseUrl: string;
	/** A pool that acts as assay_identity. */
	pool: Pool;
	passwordSignIn: PasswordSignIn;
	/** Name of the installation's identity provider. Undefined if there is none. */
	providerName: string | undefined;
	providerSignIn: ProviderSignIn;
	/** Returns the user of the request's session, if there is one. */
	findCaller: (request: FastifyRequest) => Promise<Principal | undefined>;
	fromOf: (request: FastifyRequest) => From;
}

/** The ways to sign in, which the console shows to somebody who is not signed in. */
export interface SignInWays {
	/** Name of the installation's identity provider, or null if there is none. */
	provider: string | null;
	/** True if an address can lead to the identity provider of an organization. */
	has_company_providers: boolean;
	/** True if everybody may sign in with a password. */
	has_passwords: boolean;
	/** True if the service has a name, which passkeys need. */
	has_passkeys: boolean;
}

const MAX_PATH = 2_000;
const MAX_ID = 100;

interface BeginQuery {
	to?: unknown;
	confirm?: unknown;
	provider?: unknown;
	address?: unknown;
	test?: unknown;
}

/**
 * Adds the routes of the sign-in with an identity provider. A browser follows all but the first as
 * links, so they answer with redirects, also when something is wrong.
 *
 *     GET /api/sign-in-ways                          → SignInWays
 *     GET /api/sign-in-with-provider                 ?to=PATH or ?confirm=1 → the provider
 *                                                    ?provider=ID: that of an organization
 *                                                    ?address=EMAIL: that of the address's domain
 *                                                    ?provider=ID&test=1: only tries its settings
 *     GET /api/sign-in-with-provider/callback        the installation's provider sends the browser here
 *     GET /api/sign-in-with-provider/callback/ID     the provider of an organization does
 *     GET /api/sign-in-with-provider/sign-out        ?provider=ID → the provider's page for that
 */
export function addProviderSignIn(
	app: FastifyInstance,
	parts: ProviderParts,
): void {
	const { baseUrl, pool, providerSignIn, findCaller, fromOf } = parts;

	app.get(
		"/api/sign-in-ways",
		{ config: { admits: "page" } },
		async (): Promise<SignInWays> => ({
			provider: parts.providerName ?? null,
			has_company_providers: await hasProviderOfAddresses(pool),
			has_passwords: parts.passwordSignIn === "everybody",
			has_passkeys: relyingPartyId(baseUrl) !== undefined,
		}),
	);

	app.get<{ Querystring: BeginQuery }>(
		"/api/sign-in-with-provider",
		{ config: { admits: "visitor" } },
		async (request, reply) => {
			const { to, confirm, test, address } = request.query;
			const caller = await findCaller(request);
			const confirms = confirm !== undefined;
			const tests = test !== undefined;
			// An address that leads nowhere gets an answer of the same kind as an unknown provider.
			const providerId = confirms
				? caller?.provider?.id
				: typeof address === "string"
					? ((await findProviderOfAddress(pool, address)) ?? "none")
					: idOf(request.query.provider);
			if (confirms && !caller) throw notSignedIn();
			if (tests) await requireAdministrator(pool, caller, providerId);
			const wish = {
				to: ownPath(to, baseUrl),
				confirms,
				...(caller?.sessionId !== undefined && { sessionId: caller.sessionId }),
				...(providerId !== undefined && { providerId }),
				...(tests && { tests }),
			};
			return send(reply, await providerSignIn.begin(wish, fromOf(request)));
		},
	);

	for (const path of [CALLBACK_PATH, `${CALLBACK_PATH}/:id`]) {
		app.get<{ Params: { id?: string } }>(
			path,
			{ config: { admits: "visitor" } },
			async (request, reply) => {
				const redirect = await providerSignIn.finish(
					request.params.id,
					request.url.split("?").slice(1).join("?"),
					request.headers.cookie ?? null,
					fromOf(request),
				);
				return send(reply, redirect);
			},
		);
	}

	app.get<{ Querystring: Pick<BeginQuery, "provider"> }>(
		SIGN_OUT_PATH,
		{ config: { admits: "visitor" } },
		async (request, reply) => {
			// The page of an organization's provider is an address that its administrator wrote. A link on
			// another website must not lead there by this service's name. A browser does not send the header
			// over plain HTTP.
			const site = request.headers["sec-fetch-site"] ?? "same-origin";
			const redirect =
				site === "same-origin"
					? await providerSignIn.signOut(
							idOf(request.query.provider),
							request.headers.cookie ?? null,
						)
					: { location: "/sign-in", cookies: [] };
			return send(reply, redirect);
		},
	);
}

function idOf(given: unknown): string | undefined {
	return typeof given === "string" && given.length <= MAX_ID
		? given
		: undefined;
}

/** Throws forbidden unless the caller is an administrator of the provider's organization. */
async function requireAdministrator(
	pool: Pool,
	caller: Principal | undefined,
	providerId: string | undefined,
): Promise<void> {
	if (!caller) throw notSignedIn();
	const { rows } = await pool.query<{ organization_id: string }>(
		"select organization_id from identity_providers where id = $1",
		[providerId],
	);
	const membership = caller.memberships.find(
		({ organizationId }) => organizationId === rows[0]?.organization_id,
	);
	if (membership && roleReaches(membership.role, "admin")) return;
	throw new AppError(
		"forbidden",
		"permission denied: only an administrator of its organization can test an identity provider",
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
