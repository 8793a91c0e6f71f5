import type { IncomingMessage } from "node:http";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { readBody, unreadBodyError } from "../http/body.ts";
import { methodNotAllowed, plainError } from "../http/error-replies.ts";
import { STRANGERS_BODIES } from "../load/body-budget.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import { jsonReply, type Reply } from "../mcp/reply.ts";
import type { From } from "../sign-in/exchange.ts";
import { RESOURCE_PATH, SCOPES } from "./authorization-request.ts";
import { clientMetadata } from "./client-document.ts";
import { registerClient } from "./clients.ts";
import { GrantError, type Grants } from "./grant.ts";
import { logRefusedStranger } from "./refusal-log.ts";

const MAX_BODY = 16 * 1024;

const AUTHORIZE = "/oauth/authorize";
const TOKEN = "/oauth/token";
const REVOKE = "/oauth/revoke";
const REGISTER = "/oauth/register";
const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";
const SERVER_METADATA = "/.well-known/oauth-authorization-server";

/** Returns the address of the metadata that the challenge of a 401 names (RFC 9728). */
export function resourceMetadataUrl(baseUrl: string): string {
	return `${baseUrl}${RESOURCE_METADATA}${RESOURCE_PATH}`;
}

export interface OauthParts {
	pool: Pool;
	log: Logger;
	grants: Grants;
	baseUrl: string;
	/** True if clients may register themselves (RFC 7591). */
	canRegister: boolean;
	fromOf: (request: IncomingMessage) => From;
}

export interface OauthServer {
	/** Returns true if the address belongs to the authorization server. */
	has(pathname: string): boolean;
	answer(
		request: IncomingMessage,
		pathname: string,
	): Promise<Reply | "aborted">;
}

/**
 * Makes the part of the authorization server that programs talk to: metadata (RFC 8414, RFC 9728),
 * tokens, revocation (RFC 7009) and registration (RFC 7591). Clients are public: they have no secret
 * and prove themselves with PKCE. People meet the consent page of the console at /oauth/authorize.
 */
export function makeOauthServer(parts: OauthParts): OauthServer {
	const { baseUrl, canRegister } = parts;
	const resource = JSON.stringify({
		resource: `${baseUrl}${RESOURCE_PATH}`,
		authorization_servers: [baseUrl],
		scopes_supported: SCOPES,
		bearer_methods_supported: ["header"],
		resource_name: "Assay",
	});
	const server = JSON.stringify({
		issuer: baseUrl,
		authorization_endpoint: baseUrl + AUTHORIZE,
		token_endpoint: baseUrl + TOKEN,
		revocation_endpoint: baseUrl + REVOKE,
		...(canRegister && { registration_endpoint: baseUrl + REGISTER }),
		response_types_supported: ["code"],
		response_modes_supported: ["query"],
		grant_types_supported: ["authorization_code", "refresh_token"],
		code_challenge_methods_supported: ["S256"],
		token_endpoint_auth_methods_supported: ["none"],
		revocation_endpoint_auth_methods_supported: ["none"],
		scopes_supported: SCOPES,
		authorization_response_iss_parameter_supported: true,
		client_id_metadata_document_supported: true,
	});
	const documents: Record<string, string> = {
		[RESOURCE_METADATA]: resource,
		[RESOURCE_METADATA + RESOURCE_PATH]: resource,
		[SERVER_METADATA]: server,
	};
	const posts: Record<string, (body: string, from: From) => Promise<Reply>> = {
		[TOKEN]: async (body, from) =>
			jsonReply(
				200,
				JSON.stringify(
					await parts.grants.exchange(new URLSearchParams(body), from),
				),
			),
		[REVOKE]: async (body, from) => {
			await parts.grants.revoke(new URLSearchParams(body), from);
			return jsonReply(200, "{}");
		},
		...(canRegister && {
			[REGISTER]: (body, from) => register(parts, body, from),
		}),
	};

	return {
		has: (pathname) => pathname in documents || pathname in posts,

		async answer(request, pathname) {
			const document = documents[pathname];
			if (document !== undefined) {
				return request.method === "GET"
					? { ...jsonReply(200, document), isCompressible: true }
					: methodNotAllowed(["GET"]);
			}
			if (request.method !== "POST") return methodNotAllowed(["POST"]);
			const type = request.headers["content-type"]?.split(";")[0]?.trim();
			const expected =
				pathname === REGISTER
					? "application/json"
					: "application/x-www-form-urlencoded";
			if (type?.toLowerCase() !== expected) {
				return oauthError(
					"invalid_request",
					`the body must have the header Content-Type: ${expected}`,
				);
			}
			const from = parts.fromOf(request);
			const room = STRANGERS_BODIES.of(networkOf(from.address ?? ""));
			const bytes = await readBody(request, MAX_BODY, room);
			if (bytes === "aborted") return bytes;
			if (typeof bytes === "string") throw unreadBodyError(bytes, MAX_BODY);
			try {
				return (
					(await posts[pathname]?.(bytes.toString("utf8"), from)) ??
					plainError(404, "not_found", "there is nothing at this address")
				);
			} catch (error) {
				if (error instanceof GrantError) {
					return oauthError(error.code, error.message);
				}
				throw error;
			}
		},
	};
}

async function register(
	parts: OauthParts,
	body: string,
	{ address }: From,
): Promise<Reply> {
	let json: unknown;
	try {
		json = JSON.parse(body);
	} catch {
		return oauthError("invalid_client_metadata", "the body must be JSON");
	}
	const found = clientMetadata.safeParse(json);
	if (!found.success) {
		const [issue] = found.error.issues;
		const field = issue?.path.join(".") ?? "";
		const why = `${field}: ${issue?.message}`;
		if (!field.startsWith("redirect_uris")) {
			return oauthError("invalid_client_metadata", why);
		}
		await logRefusedStranger(parts, { reason: "REDIRECT_URI", address, why });
		return oauthError("invalid_redirect_uri", why);
	}
	const { client_name, redirect_uris } = found.data;
	const name = client_name ?? "A program without a name";
	const id = await registerClient(parts.pool, {
		name,
		redirectUris: redirect_uris,
	});
	return jsonReply(
		201,
		JSON.stringify({
			client_id: id,
			client_id_issued_at: Math.floor(Date.now() / 1000),
			client_name: name,
			redirect_uris,
			token_endpoint_auth_method: "none",
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
		}),
	);
}

/** Returns an error in the form of RFC 6749, section 5.2. */
function oauthError(error: string, error_description: string): Reply {
	return jsonReply(400, JSON.stringify({ error, error_description }));
}
