import {
	type AuthInfo,
	createMcpHandler,
	ProtocolError,
	Server,
	WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { type AppError, issuePath, toAppError } from "../errors.ts";
import { askUser, needsConfirmation } from "./confirmation.ts";
import { instructionsFor } from "./instructions.ts";
import {
	type Caller,
	callMembers,
	LIST_CACHE,
	listTools,
	SERVER_INFO,
	type ToolServices,
} from "./methods.ts";
import { offerPrompts } from "./prompts.ts";
import { jsonReply, jsonRpcCode, type Reply, withFault } from "./reply.ts";
import { offerResources } from "./resources.ts";

export type RequestHeaders = Record<string, string | string[] | undefined>;

/**
 * A function that answers one JSON-RPC message. Its promise rejects only if the service itself
 * fails.
 */
export type AnswerMessage = (
	message: unknown,
	headers: RequestHeaders,
	caller: Caller,
) => Promise<Reply>;

/** One message while the SDK processes it. */
interface Exchange {
	caller: Caller;
	/** True if the client has to ask its user before the tool is called. */
	asksUser?: boolean;
	/** The error that determines the HTTP status. */
	fault?: AppError;
}

export interface Sdk {
	/**
	 * Answers messages of revision 2026-07-28. Rejects malformed messages that name this revision.
	 */
	answerModern: AnswerMessage;
	/**
	 * Answers messages of the revisions that begin with `initialize`. This service gives them no
	 * session.
	 */
	answerLegacy: AnswerMessage;
}

/**
 * Makes the two parts of the official SDK that we use: its handler for revision 2026-07-28, and its
 * transport with JSON replies for earlier revisions. Each message gets a server of its own.
 */
export function makeSdk(tools: ToolServices): Sdk {
	// Making a validator is slow, so all servers share one. Tools do not use it, because zod checks
	// their input.
	const jsonSchemaValidator = new AjvJsonSchemaValidator();

	function makeServer(exchange: Exchange): Server {
		const { caller } = exchange;
		const { catalogue } = tools;
		const { principal, narrowing } = caller;
		const scope = principal.token?.toolsets;
		const server = new Server(SERVER_INFO, {
			capabilities: {
				tools: { listChanged: false },
				resources: {},
				prompts: {},
				completions: {},
			},
			instructions: instructionsFor(
				catalogue.toolsets.filter((name) => scope?.includes(name) ?? true),
				(tool) =>
					catalogue.findWithin(tool, principal, narrowing) !== undefined,
			),
			cacheHints: { "tools/list": LIST_CACHE, "server/discover": LIST_CACHE },
			jsonSchemaValidator,
		});
		server.setRequestHandler("tools/list", () =>
			JSON.parse(`{${listTools(tools, caller)}}`),
		);
		server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
			const { name, arguments: input } = params;
			try {
				if (exchange.asksUser) {
					const given = mcpReq.inputResponses;
					const asked = await askUser(tools, caller, name, input ?? {}, given);
					if (asked) return asked;
				}
				return JSON.parse(`{${await callMembers(tools, caller, name, input)}}`);
			} catch (thrown) {
				return fail(exchange, thrown);
			}
		});
		offerResources(server, tools, caller, (thrown) => fail(exchange, thrown));
		offerPrompts(server, tools, caller);
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
			const { params } = (message ?? {}) as {
				params?: Record<string, unknown>;
			};
			const asksUser = needsConfirmation(tools, caller, params);
			const exchange: Exchange = { caller, asksUser };
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

/**
 * Throws the JSON-RPC error of a failed call, and notes the error that determines the HTTP status.
 * A client that ends its session at a 403 gets the status 200.
 */
function fail(exchange: Exchange, thrown: unknown): never {
	if (thrown instanceof ProtocolError) throw thrown;
	const error = toAppError(thrown);
	const isResult =
		error.code === "forbidden" && exchange.caller.refusalsAreResults === true;
	if (!isResult) exchange.fault = error;
	throw new ProtocolError(jsonRpcCode(error), error.message);
}

/**
 * Makes the request that is passed to the SDK. Its Accept header is always the same, whatever the
 * client sent.
 */
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
 * Wraps the exchange so that the SDK passes it to the server that the SDK makes. There is no other
 * way to pass it. The object contains no API token.
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
 * Replaces zod's issues in an error of the SDK by sentences. The SDK returns the issues as JSON,
 * and for `initialize` it reports them as an internal error.
 */
function inSentences(text: string): string {
	if (!/"message":"(?:Invalid \S+ request: )?\[\\n/.test(text)) return text;
	const said = String(JSON.parse(text).error?.message);
	if (!said.endsWith("]")) return text;
	const issues = JSON.parse(said.slice(said.indexOf("["))) as {
		path: string[];
		message: string;
	}[];
	const message = issues
		.map((issue) => `${issuePath(issue.path)}: ${issue.message}`)
		.join("; ");
	return JSON.stringify({
		...JSON.parse(text),
		error: { code: -32602, message },
	});
}
