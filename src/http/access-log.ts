import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { AddressOf } from "./client-address.ts";
import { requestIdOf } from "./request-id.ts";

export type AccessLog = (
	request: IncomingMessage,
	response: ServerResponse,
) => void;

/** Longest path that a line repeats. */
const MAX_PATH = 200;

/**
 * Makes the function that logs each request when its answer has ended. A line has no query, headers
 * or bodies. Secrets within a path are redacted like everywhere in the log. Status 0 means that the
 * caller disconnected before the answer.
 */
export function makeAccessLog(log: Logger, addressOf: AddressOf): AccessLog {
	return (request, response) => {
		const startedAt = performance.now();
		const address = addressOf(request);
		const requestId = requestIdOf(request);
		// The door that answers takes the id from this header, so the line and the answer agree.
		request.headers["x-request-id"] = requestId;
		response.once("close", () => {
			log.info(
				{
					event: "request",
					method: request.method,
					path: pathOf(request.url ?? "").slice(0, MAX_PATH),
					status: response.writableFinished ? response.statusCode : 0,
					durationMs: Math.round(performance.now() - startedAt),
					address,
					requestId,
				},
				"request",
			);
		});
	};
}

/**
 * Returns the path of a request without its query. A request may name a whole address, as to a
 * proxy, and the address may contain a password.
 */
function pathOf(target: string): string {
	const [path = ""] = target.split("?", 1);
	if (path.startsWith("/")) return path;
	return URL.parse(path)?.pathname ?? "";
}
