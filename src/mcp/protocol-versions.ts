import {
	classifyInboundRequest,
	ProtocolError,
	SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { toAppError } from "../errors.ts";
import { needsConfirmation } from "./confirmation.ts";
import {
	type Caller,
	callMembers,
	listTools,
	MODERN_LIST_MEMBERS,
	MODERN_MEMBERS,
	type ToolServices,
} from "./methods.ts";
import {
	errorReply,
	jsonReply,
	jsonRpcCode,
	type Reply,
	type RequestId,
	requestIdIn,
	resultReply,
	withFault,
} from "./reply.ts";
import { type AnswerMessage, makeSdk, type RequestHeaders } from "./sdk.ts";

/**
 * The revision of the protocol that has no handshake. Earlier revisions begin with `initialize`.
 */
const MODERN = "2026-07-28";
const MAX_BATCH = 100;

export interface Mcp {
	/** Answers a JSON-RPC body of any revision. The promise never rejects. */
	answer: AnswerMessage;
}

/**
 * Makes the Model Context Protocol without sessions. All revisions share one address. The SDK tells
 * the revisions apart, rejects malformed messages, and answers the rare kinds of messages.
 *
 * Ordinary tools/call and tools/list messages are answered here and not by the SDK. The SDK would
 * make a server for every call, and would copy and serialize every list. That takes several times
 * as long as the call itself.
 */
export function makeMcp(tools: ToolServices): Mcp {
	const sdk = makeSdk(tools);

	const answer: AnswerMessage = async (body, headers, caller) => {
		const version = single(headers["mcp-protocol-version"]);
		const route = classifyInboundRequest({
			httpMethod: "POST",
			...present("protocolVersionHeader", version),
			...present("mcpMethodHeader", single(headers["mcp-method"])),
			...present("mcpNameHeader", single(headers["mcp-name"])),
			body,
		});
		if (route.kind === "legacy") {
			if (route.reason === "batch") {
				return answerBatch(body as unknown[], headers, caller);
			}
			const isKnown =
				version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
			const direct =
				route.reason === "no-claim" && isKnown
					? await answerDirectly(body as Message, undefined, caller)
					: undefined;
			return direct ?? sdk.answerLegacy(body, headers, caller);
		}
		const direct =
			route.kind === "modern" &&
			route.messageKind === "request" &&
			route.classification.revision === MODERN &&
			version === MODERN
				? await answerDirectly(route.message as Message, headers, caller)
				: undefined;
		return direct ?? sdk.answerModern(body, headers, caller);
	};

	/**
	 * Answers tools/call or tools/list. Returns undefined for any other message, which the SDK then
	 * handles. `headers` are given only for requests of revision 2026-07-28, whose headers repeat
	 * parts of the body.
	 */
	async function answerDirectly(
		{ id, method, params = {} }: Message,
		headers: RequestHeaders | undefined,
		caller: Caller,
	): Promise<Reply | undefined> {
		if (headers && headers["mcp-method"] !== method) return undefined;
		const extra = headers ? `,${MODERN_MEMBERS}` : "";
		if (method === "tools/list") {
			const cache = headers ? `,${MODERN_LIST_MEMBERS}` : "";
			return resultReply(id, listTools(tools, caller) + cache + extra, true);
		}
		const { name, arguments: input } = params;
		if (method !== "tools/call" || typeof name !== "string") return undefined;
		if (headers && headers["mcp-name"] !== name) return undefined;
		if (headers && needsConfirmation(tools, caller, params)) return undefined;
		if (input !== undefined && !isObject(input)) return undefined;
		try {
			return resultReply(
				id,
				(await callMembers(tools, caller, name, input)) + extra,
				// Only a tool that writes returns a secret, such as a new enrollment token.
				tools.catalogue.tools.get(name)?.operation.isReadOnly === true,
			);
		} catch (thrown) {
			if (thrown instanceof ProtocolError) {
				return errorReply(200, id, thrown.code, thrown.message);
			}
			const error = toAppError(thrown);
			return withFault(
				errorReply(error.status, id, jsonRpcCode(error), error.message),
				error,
			);
		}
	}

	/** Answers the messages one after the other, so that no message can cancel or hide another. */
	async function answerBatch(
		messages: unknown[],
		headers: RequestHeaders,
		caller: Caller,
	): Promise<Reply> {
		if (messages.length > MAX_BATCH) {
			const text = `a batch must have at most ${MAX_BATCH} messages`;
			return errorReply(400, null, -32600, text);
		}
		const answers: string[] = [];
		let isCompressible = true;
		for (const message of messages) {
			const reply = await answer(message, headers, caller);
			if (typeof reply.body === "string") answers.push(reply.body);
			isCompressible &&= reply.isCompressible === true;
		}
		return answers.length > 0
			? { ...jsonReply(200, `[${answers.join()}]`), isCompressible }
			: { status: 202, headers: {}, body: undefined };
	}

	return {
		async answer(body, headers, caller) {
			try {
				return await answer(body, headers, caller);
			} catch (err) {
				const { requestId } = caller;
				tools.outageLog.note(err, { requestId }, "an MCP request failed");
				const error = toAppError(err);
				const code = jsonRpcCode(error);
				const id = requestIdIn(body);
				return withFault(
					errorReply(error.status, id, code, error.message),
					error,
				);
			}
		},
	};
}

/** A request whose shape the SDK has accepted. */
interface Message {
	id: RequestId;
	method: string;
	params?: Record<string, unknown>;
}

function single(value: string | string[] | undefined): string | undefined {
	return Array.isArray(value) ? value.join(", ") : value;
}

function present<Name extends string>(name: Name, value: string | undefined) {
	return value === undefined ? {} : ({ [name]: value } as Record<Name, string>);
}

function isObject(value: unknown): boolean {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
