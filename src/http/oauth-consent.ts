import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { AppError } from "../errors.ts";
import {
	authorizationInput,
	checkAuthorization,
} from "../oauth/authorization-request.ts";
import { findClient } from "../oauth/clients.ts";
import { redirectTo } from "../oauth/redirect-uri.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import { parseInput } from "../validation.ts";
import { callerOf, MAX_STRANGERS_BODY, nothingHere } from "./admission.ts";

export interface ConsentParts {
	/** A pool that acts as assay_identity. */
	pool: Pool;
	log: Logger;
	baseUrl: string;
	/** Decides from which addresses the documents of clients may come. */
	rule: OutgoingRule;
}

/**
 * Adds the routes of the consent page. The one that reads a request is no operation, because it may
 * fetch the client's document, and no transaction should wait for that.
 *
 *     GET  /oauth/authorize      leads the browser to the consent page
 *     POST /api/oauth/request    the parameters of the request → {app} to show, or {message} with an
 *                               error; 400 if the client cannot be trusted
 *
 * An answer with `app` also has `deny_to`. The page then calls the operation `allowApp`, or sends
 * the browser to `deny_to`. An answer with `message` also has `redirect_to`. The page shows a link
 * to it and does not redirect by itself. Anybody may be a client, so a link to this service could
 * otherwise lead to any website (RFC 9700, section 4.11.2).
 */
export function addOauthConsent(
	app: FastifyInstance,
	parts: ConsentParts | undefined,
): void {
	app.get(
		"/oauth/authorize",
		{ config: { admits: "visitor" } },
		async (request, reply) => {
			if (!parts) throw nothingHere();
			// The page reads the parameters after the #. The console's router would change some of them,
			// such as a `state` that looks like a number.
			const { search } = new URL(request.url, parts.baseUrl);
			return reply.redirect(`/connect-app#${search.slice(1)}`, 303);
		},
	);

	app.post(
		"/api/oauth/request",
		{ bodyLimit: MAX_STRANGERS_BODY, config: { admits: "session" } },
		async (request) => {
			if (!parts) {
				throw new AppError(
					"not_found",
					"programs cannot be connected here; the operator can switch it on with ASSAY_OAUTH=on",
				);
			}
			const { baseUrl } = parts;
			const caller = callerOf(request);
			const input = parseInput(authorizationInput, request.body ?? {});
			const client = await findClient(parts, input.client_id, caller);
			const asked = checkAuthorization(client, input, parts, caller);
			if ("errorUrl" in asked) {
				return {
					redirect_to: asked.errorUrl,
					redirect_host: hostOf(asked.errorUrl),
					message: asked.message,
				};
			}
			return {
				app: {
					name: client.name,
					host: client.isRegistered ? null : new URL(client.id).host,
					redirect_host: hostOf(asked.redirectUri),
					is_read_only: asked.isReadOnly,
				},
				deny_to: redirectTo(asked.redirectUri, {
					error: "access_denied",
					error_description: "the user did not allow it",
					state: input.state,
					iss: baseUrl,
				}),
			};
		},
	);
}

/** Returns where a redirect URI leads, in words that a person can check. */
function hostOf(redirectUri: string): string {
	const { protocol, host } = new URL(redirectUri);
	if (protocol === "https:") return host;
	return protocol === "http:"
		? "a program on this computer"
		: `the program that opens ${protocol} addresses`;
}
