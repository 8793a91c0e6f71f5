import { type AppError, RETRY_AFTER_SECONDS } from "../errors.ts";

/** The answer of the MCP endpoint before it is written to the connection. */
export interface Reply {
	status: number;
	headers: Record<string, string>;
	/**
	 * Text, or a stream for server-sent events, which are rare. Undefined if the answer has no body.
	 */
	body: string | ReadableStream<Uint8Array> | undefined;
	/** True if the body may be compressed, because it holds no secret. */
	isCompressible?: boolean;
}

export type RequestId = string | number | null;

/**
 * JSON-RPC codes of errors that are not a tool's own. We have chosen −32003 from the range for
 * implementations (−32000 to −32019).
 */
const JSON_RPC_CODE: Record<AppError["code"], number> = {
	bad_request: -32602,
	conflict: -32602,
	not_found: -32602,
	unauthorized: -32003,
	forbidden: -32003,
	internal_server_error: -32603,
	service_unavailable: -32603,
};

export function jsonRpcCode(error: AppError): number {
	return JSON_RPC_CODE[error.code];
}

export function jsonReply(status: number, body: string): Reply {
	return {
		status,
		headers: { "content-type": "application/json; charset=utf-8" },
		body,
	};
}

/**
 * Makes the reply with a result. `members` are the members of the result as JSON, such as
 * `"tools":[…],"ttlMs":1`.
 */
export function resultReply(
	id: RequestId,
	members: string,
	isCompressible: boolean,
): Reply {
	const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members}}}`;
	return { ...jsonReply(200, body), isCompressible };
}

export function errorReply(
	status: number,
	id: RequestId,
	code: number,
	message: string,
): Reply {
	const body = { jsonrpc: "2.0", id, error: { code, message } };
	return jsonReply(status, JSON.stringify(body));
}

/**
 * Returns the id of the request in a JSON-RPC body. Returns null for a batch, a notification or a
 * malformed body.
 */
export function requestIdIn(body: unknown): RequestId {
	if (typeof body !== "object" || body === null || Array.isArray(body)) {
		return null;
	}
	const { id, method } = body as { id?: unknown; method?: unknown };
	return typeof method === "string" &&
		(typeof id === "string" || typeof id === "number")
		? id
		: null;
}

/**
 * Returns the reply with the HTTP status of the fault. Without a fault, returns the reply
 * unchanged.
 */
export function withFault(reply: Reply, fault: AppError | undefined): Reply {
	if (!fault) return reply;
	reply.status = fault.status;
	if (fault.code === "service_unavailable") {
		reply.headers["retry-after"] = String(RETRY_AFTER_SECONDS);
	}
	return reply;
}
