import {
	type AuthInfo,
	createMcpHandler,
	ProtocolError,
	Server,
	WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { type AppError, issuePath, toAppError } from "../errors.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import {
	type Caller,
	callMembers,
	LIST_CACHE,
	listTools,
	SERVER_INFO,
	type ToolServices,
} from "./methods.ts";
import { jsonReply, jsonRpcCode, type Reply, withFault } from "./reply.ts";

export type RequestHeaders = Record<string, string | string[] | undefined>;

/** Answers one JSON-RPC message. The promise rejects only if the service itself fails. */
export type AnswerMessage = (
	message: unknown,
	headers: RequestHeaders,
	caller: Caller,
) => Promise<Reply>;

/** One message on its way through the SDK. */
interface Exchange {
	caller: Caller;
	/** The error that decides the HTTP status. */
	fault?: AppError;
}

export interface Sdk {
	/** Answers revision 2026-07-28. Rejects malformed messages that claim it. */
	answerModern: AnswerMessage;
	/** Answers the revisions that open with `initialize`. They have no session here. */
	answerLegacy: AnswerMessage;
}

/**
 * Makes the official SDK's two ways of serving: its handler for revision 2026-07-28, and its
 * transport with JSON replies for earlier revisions. Each message gets its own server.
 */
export function makeSdk(tools: ToolServices): Sdk {
	// The validator is costly to make, so all servers share one. Tools do not need it, because zod
	// checks their input.
	const jsonSchemaValidator = new AjvJsonSchemaValidator();

	function makeServer(exchange: Exchange): Server {
		const { caller } = exchange;
		const server = new Server(SERVER_INFO, {
			capabilities: { tools: { listChanged: false } },
			instructions: INSTRUCTIONS,
			cacheHints: { "tools/list": LIST_CACHE, "server/discover": LIST_CACHE },
			jsonSchemaValidator,
		});
		server.setRequestHandler("tools/list", () =>
			JSON.parse(`{${listTools(tools, caller)}}`),
		);
		server.setRequestHandler("tools/call", async ({ params }) => {
			const { name, arguments: input } = params;
			try {
				return JSON.parse(`{${await callMembers(tools, caller, name, input)}}`);
			} catch (thrown) {
				if (thrown instanceof ProtocolError) throw thrown;
				exchange.fault = toAppError(thrown);
				const { message } = exchange.fault;
				throw new ProtocolError(jsonRpcCode(exchange.fault), message);
			}
		});
		return server;
	}

	const onerror = (err: Error) => {
		tools.services.log.debug({ err }, "MCP request rejected");
	};
	const modern = createMcpHandler(
		({ authInfo }) => makeServer(authInfo?.extra?.exchange as Exchange),
		{ legacy: "reject", onerror },
	);

	return {
		async answerModern(message, headers, caller) {
			const exchange: Exchange = { caller };
			const response = await modern.fetch(makeRequest(tools, headers), {
				parsedBody: message,
				authInfo: makeAuthInfo(exchange),
			});
			return toReply(response, exchange);
		},
		async answerLegacy(message, headers, caller) {
			const exchange: Exchange = { caller };
			const server = makeServer(exchange);
			const transport = new WebStandardStreamableHTTPServerTransport({
				enableJsonResponse: true,
			});
			transport.onerror = onerror;
			await server.connect(transport);
			try {
				const response = await transport.handleRequest(
					makeRequest(tools, headers),
					{ parsedBody: message },
				);
				return await toReply(response, exchange);
			} finally {
				await server.close();
			}
		},
	};
}

/** Makes the request for the SDK. It does not depend on the client's Accept header. */
function makeRequest(
	{ services }: ToolServices,
	given: RequestHeaders,
): Request {
	const headers = new Headers({
		accept: "application/json, text/event-stream",
		"content-type": "application/json",
	});
	for (const [name, value] of Object.entries(given)) {
		if (name.startsWith("mcp-") && typeof value === "string") {
			headers.set(name, value);
		}
	}
	return new Request(`${services.baseUrl}/api/mcp/v1`, {
		method: "POST",
		headers,
	});
}

/**
 * Passes the exchange to a server that the SDK makes. The SDK offers no other way. The result
 * contains no token.
 */
function makeAuthInfo(exchange: Exchange): AuthInfo {
	return { token: "", clientId: "", scopes: [], extra: { exchange } };
}

async function toReply(
	response: Response,
	{ fault }: Exchange,
): Promise<Reply> {
	const { status } = response;
	const type = response.headers.get("content-type") ?? "";
	if (type.startsWith("text/event-stream")) {
		const headers = { "content-type": type, "x-accel-buffering": "no" };
		return { status, headers, body: response.body ?? undefined };
	}
	const text = await response.text();
	return text === ""
		? { status, headers: {}, body: undefined }
		: withFault(jsonReply(status, fault ? text : inSentences(text)), fault);
}

/**
 * Turns the SDK's error about params into sentences. The SDK returns zod's issues as JSON. For an
 * `initialize`, it calls them an internal error.
 */
function inSentences(text: string): string {
	const [, found] = /"message":"(?:Invalid \S+ request: )?\[\\n/.test(text)
		? (/(\[[\s\S]*\])$/.exec(JSON.parse(text).error?.message) ?? [])
		: [];
	if (found === undefined) return text;
	const issues = JSON.parse(found) as { path: string[]; message: string }[];
	const message = issues
		.map((issue) => `${issuePath(issue.path)}: ${issue.message}`)
		.join("; ");
	return JSON.stringify({
		...JSON.parse(text),
		error: { code: -32602, message },
	});
}
