import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { AppError, overloaded, toAppError } from "../errors.ts";
import { callsOfUsers } from "../load/calls-of-users.ts";
import { FairShares } from "../load/fair-shares.ts";
import type { Maintenance } from "../load/maintenance.ts";
import { answerOverloaded, isEventLoopBehind } from "../load/overload.ts";
import type { Tool } from "../mcp/catalogue.ts";
import {
	type Caller,
	clientInRequest,
	clientName,
	countUse,
	type ToolServices,
} from "../mcp/methods.ts";
import {
	MCP_PARAMETERS,
	readNarrowing,
	rejectUnknownParameters,
	TOOL_PARAMETERS,
	wantsRefusalsAsResults,
} from "../mcp/narrowing.ts";
import { makeMcp } from "../mcp/protocol-versions.ts";
import {
	errorReply,
	jsonReply,
	type Reply,
	requestIdIn,
} from "../mcp/reply.ts";
import {
	type OauthServer,
	resourceMetadataUrl,
} from "../oauth/oauth-server.ts";
import type { ClosedOrganizations } from "../organizations/closed-organizations.ts";
import type { Principal } from "../principal.ts";
import type { ApiTokens } from "../tokens/authentication.ts";
import { endEarly, hasBody, readBody, unreadBodyError } from "./body.ts";
import type { AddressOf } from "./client-address.ts";
import { encodeBody } from "./compression.ts";
import {
	type AllowedOrigins,
	crossOriginHeaders,
	mergeHeaders,
	preflightReply,
} from "./cross-origin.ts";
import {
	failure,
	mcpFailure,
	methodNotAllowed,
	noAuthorizationServer,
	plainError,
} from "./error-replies.ts";
import { answerFiles } from "./file-door.ts";
import { UNREAD_MS } from "./files.ts";
import { NOT_JSON, NOT_UTF8, requireLimitedShape } from "./json.ts";
import { SOURCE_PARAMETER, takeSource } from "./read-source.ts";
import { requestIdOf } from "./request-id.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { securityHeaders } from "./security-headers.ts";
import {
	callWithBody,
	callWithQuery,
	findTool,
	methodsOf,
} from "./tool-door.ts";
import {
	DOOR,
	FILES,
	HEALTH,
	isFilesPath,
	MCP,
	NO_OAUTH,
	ourUrl,
} from "./tool-paths.ts";

const MAX_BODY = 1024 * 1024;
/**
 * Limit of calls that wait for a database connection. When it is exceeded, further calls are turned
 * away.
 */
const MAX_WAITING = 64;
/**
 * Calls that one API token may run and queue at a time. All calls together share 8 database
 * connections.
 */
const CALLS_OF_A_TOKEN = { running: 6, waiting: 58 };

export interface ToolServer {
	/**
	 * Answers the request if its path belongs to the tool server. Returns false for every other path.
	 */
	handle(request: IncomingMessage, response: ServerResponse): boolean;
	/** Makes each later response close its connection. */
	drain(): void;
}

/**
 * Makes the tool server: MCP at /api/mcp/v1, each tool as plain HTTP at /api/mcp/tools/<name>, and
 * the health of both. Like the Device Agent API, the tool server uses `node:http` without a
 * framework. There are two reasons. The contract prescribes the order of the checks (foreign
 * website, credential, method, body). The SDK reads request data that a framework would already
 * have consumed.
 */
export function makeToolServer(
	tools: ToolServices,
	tokens: Pick<ApiTokens, "authenticate" | "isFull">,
	addressOf: AddressOf,
	allowedOrigins: AllowedOrigins,
	maintenance: Pick<Maintenance, "refusal" | "refuse">,
	closed: Pick<ClosedOrganizations, "limit">,
	oauth?: OauthServer,
): ToolServer {
	const { services, catalogue, usage, outageLog } = tools;
	const mcp = makeMcp(tools);
	const common = {
		...securityHeaders(services.baseUrl),
		"cache-control": "no-store",
	};
	const shares = new FairShares(CALLS_OF_A_TOKEN);
	let isDraining = false;

	/**
	 * Returns why the request gets a 503 before its body is read, or undefined if it can be
	 * processed.
	 */
	function whyBusy(
		{ headers, method }: IncomingMessage,
		{ pathname }: URL,
	): string | undefined {
		const { refusal } = maintenance;
		// A program that gets a 403 here may discard its grant. It keeps it after a 503.
		if (refusal && method === "POST" && oauth?.has(pathname)) return refusal;
		const isBusy =
			isEventLoopBehind() ||
			services.pool.waitingCount > MAX_WAITING ||
			tokens.isFull();
		if (isBusy) return overloaded().message;
		return shares.whyFull(headers.authorization ?? "");
	}

	async function answer(
		request: IncomingMessage,
		response: ServerResponse,
		url: URL,
	): Promise<void> {
		const requestId = requestIdOf(request);
		let reply: Reply;
		try {
			const found = await route(request, url, requestId);
			if (found === "aborted") return;
			reply = found;
		} catch (thrown) {
			outageLog.note(thrown, { requestId }, "a tool request failed");
			const error = toAppError(thrown);
			reply = url.pathname === MCP ? mcpFailure(error) : failure(error);
			if (oauth && error.code === "unauthorized") {
				const metadata = resourceMetadataUrl(services.baseUrl);
				reply.headers["www-authenticate"] =
					`Bearer resource_metadata="${metadata}"`;
			}
		}
		await send(request, response, requestId, reply);
	}

	async function authenticate(
		request: IncomingMessage,
		authorization: string | undefined,
	): Promise<Principal> {
		const principal = await tokens.authenticate(authorization, {
			client: clientName(request.headers["user-agent"]),
			address: addressOf(request),
		});
		return closed.limit(principal);
	}

	async function route(
		request: IncomingMessage,
		url: URL,
		requestId: string,
	): Promise<Reply | "aborted"> {
		requireSameOrigin(request, services.baseUrl, allowedOrigins);
		const preflight = preflightReply(request, allowedOrigins);
		if (preflight) return preflight;
		if (oauth?.has(url.pathname)) return oauth.answer(request, url.pathname);
		if (NO_OAUTH.test(url.pathname)) return noAuthorizationServer();
		if (!HEALTH.has(url.pathname)) maintenance.refuse();
		const authorization = authorizationOf(request);
		if (isFilesPath(url.pathname)) {
			// An upload may take a minute, so it has limits of its own.
			const find = () => authenticate(request, authorization);
			const principal = await find();
			const path = url.pathname.slice(FILES.length + 1);
			return answerFiles(tools, request, principal, find, path, url, requestId);
		}
		return shares.run(
			request.headers.authorization ?? "",
			(principal: Principal) =>
				callsOfUsers.run(principal.userId ?? "", async () => {
					// Many other requests may have arrived while the caller was authenticated, so the limit
					// is checked again.
					if (services.pool.waitingCount > MAX_WAITING) throw overloaded();
					return url.pathname === MCP
						? answerMcp(request, url, principal, requestId)
						: answerPlain(request, url, principal, requestId);
				}),
			() => authenticate(request, authorization),
		);
	}

	async function answerPlain(
		request: IncomingMessage,
		url: URL,
		principal: Principal,
		requestId: string,
	): Promise<Reply | "aborted"> {
		countUse(usage, principal);
		if (HEALTH.has(url.pathname)) {
			if (request.method !== "GET") return methodNotAllowed(["GET"]);
			return jsonReply(200, '{"status":"ok"}');
		}
		const query = url.searchParams;
		const source = takeSource(services, query);
		const chosen = { ...tools, services: source.services };
		const replyWith = (tool: Tool, output: object): Reply => {
			const reply = outputReply(tool, output);
			return { ...reply, headers: { ...reply.headers, ...source.headers() } };
		};
		const narrowing = readNarrowing(catalogue.toolsets, query, request.headers);
		const caller: Caller = { principal, narrowing, requestId };
		const tool = findTool(tools, caller, url.pathname.slice(DOOR.length));
		const methods = methodsOf(tool);
		if (!methods.includes(request.method ?? "")) {
			return methodNotAllowed(methods);
		}
		if (request.method === "GET") {
			const output = await callWithQuery(chosen, caller, tool, query);
			return replyWith(tool, output);
		}
		rejectUnknownParameters(query, [...TOOL_PARAMETERS, SOURCE_PARAMETER]);
		const bytes = await readBody(request, MAX_BODY);
		if (bytes === "aborted") return bytes;
		if (typeof bytes === "string") throw unreadBodyError(bytes, MAX_BODY);
		if (!isUtf8(bytes)) return plainError(400, "bad_request", NOT_UTF8);
		const text = bytes.toString("utf8");
		const output = await callWithBody(chosen, caller, tool, text);
		return replyWith(tool, output);
	}

	async function answerMcp(
		request: IncomingMessage,
		url: URL,
		principal: Principal,
		requestId: string,
	): Promise<Reply | "aborted"> {
		if (request.method !== "POST") return methodNotAllowed(["POST"]);
		if (!isJsonContentType(request.headers["content-type"])) {
			return errorReply(
				415,
				null,
				-32600,
				"the body must be JSON, with the header Content-Type: application/json",
			);
		}
		const bytes = await readBody(request, MAX_BODY);
		if (bytes === "aborted") return bytes;
		if (typeof bytes === "string") {
			const status = bytes === "too_large" ? 413 : 400;
			const { message } = unreadBodyError(bytes, MAX_BODY);
			return errorReply(status, null, -32600, message);
		}
		if (!isUtf8(bytes)) return errorReply(400, null, -32700, NOT_UTF8);
		const text = bytes.toString("utf8");
		let message: unknown;
		try {
			requireLimitedShape(text);
			message = JSON.parse(text);
		} catch (error) {
			const why = error instanceof AppError ? error.message : NOT_JSON;
			return errorReply(400, null, -32700, why);
		}
		const client = clientInRequest(message);
		if (client !== undefined) principal.client = client;
		countUse(usage, principal);
		try {
			const { searchParams: query } = url;
			const { headers } = request;
			rejectUnknownParameters(query, MCP_PARAMETERS);
			const caller: Caller = {
				principal,
				narrowing: readNarrowing(catalogue.toolsets, query, headers),
				refusalsAreResults: wantsRefusalsAsResults(query, headers),
				requestId,
			};
			return await mcp.answer(message, request.headers, caller);
		} catch (thrown) {
			const { message: text } = toAppError(thrown);
			return errorReply(400, requestIdIn(message), -32602, text);
		}
	}

	async function send(
		request: IncomingMessage,
		response: ServerResponse,
		requestId: string,
		{ status, headers: own, body, isCompressible }: Reply,
	): Promise<void> {
		let headers: Record<string, string> = {
			"x-request-id": requestId,
			...common,
			...own,
			...crossOriginHeaders(request, allowedOrigins),
		};
		if (!request.readableEnded && hasBody(request)) {
			endEarly(request, response, status, headers, body?.toString() ?? "");
			return;
		}
		// The flag is checked here and not at the beginning of the request, because shutting down may
		// have begun meanwhile.
		if (isDraining) headers.connection = "close";
		if (body instanceof ReadableStream) {
			response.writeHead(status, headers);
			response.setTimeout(UNREAD_MS, () => response.destroy());
			await pipeline(Readable.fromWeb(body), response).catch(() => {});
			return;
		}
		let sent: string | Buffer = body ?? "";
		if (isCompressible) {
			const encoded = await encodeBody(sent, request.headers);
			headers = mergeHeaders(headers, encoded.headers);
			sent = encoded.body;
		}
		headers["content-length"] = String(Buffer.byteLength(sent));
		response.writeHead(status, headers);
		response.end(sent);
	}

	return {
		handle(request, response) {
			const url = ourUrl(request.url ?? "", oauth);
			if (!url) return false;
			const why = whyBusy(request, url);
			if (why !== undefined) {
				const headers = {
					...common,
					...crossOriginHeaders(request, allowedOrigins),
				};
				answerOverloaded(request, response, headers, isDraining, why);
			} else void answer(request, response, url);
			return true;
		},
		drain() {
			isDraining = true;
		},
	};
}

/**
 * Returns the response with a tool's output. Only a tool that writes returns a secret, such as a
 * new enrollment token.
 */
function outputReply({ operation }: Tool, output: object): Reply {
	const isCompressible = operation.isReadOnly;
	return { ...jsonReply(200, JSON.stringify(output)), isCompressible };
}

/**
 * Returns the Authorization header. If the client sent several, they are joined to one malformed
 * value, which is rejected. Otherwise Node would take the first.
 */
function authorizationOf(request: IncomingMessage): string | undefined {
	return request.headersDistinct.authorization?.join(", ");
}
