import {
	type AppError,
	InMaintenance,
	RETRY_AFTER_SECONDS,
} from "../errors.ts";
import {
	errorReply,
	jsonReply,
	jsonRpcCode,
	type Reply,
	withFault,
} from "../mcp/reply.ts";

/** Returns the plain-HTTP response to an error: {error, message, fields?}. */
export function failure(error: AppError): Reply {
	const { code, message, fields } = error;
	return withHeaders(
		jsonReply(
			error.status,
			JSON.stringify({ error: code, message, ...(fields && { fields }) }),
		),
		error,
	);
}

/**
 * Returns the response to an error at the MCP endpoint before its message is read. Clients show
 * their user the message of a JSON-RPC error, and of no other body.
 */
export function mcpFailure(error: AppError): Reply {
	const { status, message } = error;
	return withHeaders(
		errorReply(status, null, jsonRpcCode(error), message),
		error,
	);
}

function withHeaders(reply: Reply, error: AppError): Reply {
	if (error.code === "unauthorized") {
		reply.headers["www-authenticate"] = "Bearer";
	}
	if (error instanceof InMaintenance) {
		reply.headers["retry-after"] = String(RETRY_AFTER_SECONDS);
	}
	return withFault(reply, error);
}

export function plainError(
	status: number,
	error: string,
	message: string,
): Reply {
	return jsonReply(status, JSON.stringify({ error, message }));
}

export function methodNotAllowed(methods: string[]): Reply {
	const allow = methods.join(", ");
	const message = `the method must be ${methods.join(" or ")} at this address`;
	const reply = plainError(405, "bad_request", message);
	reply.headers.allow = allow;
	return reply;
}

export function noAuthorizationServer(): Reply {
	return plainError(
		404,
		"not_found",
		"this service has no authorization server; send the header `Authorization: Bearer <API token>` with a token from Settings, API tokens",
	);
}
