import { type AppError, RETRY_AFTER_SECONDS } from "../errors.ts";
import { jsonReply, type Reply } from "../mcp/reply.ts";

/** Returns the plain-HTTP response to an error: {error, message, fields?}. */
export function failure(error: AppError): Reply {
	const { code, message, fields } = error;
	const reply = jsonReply(
		error.status,
		JSON.stringify({ error: code, message, ...(fields && { fields }) }),
	);
	if (code === "unauthorized") reply.headers["www-authenticate"] = "Bearer";
	if (code === "service_unavailable") {
		reply.headers["retry-after"] = String(RETRY_AFTER_SECONDS);
	}
	return reply;
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
