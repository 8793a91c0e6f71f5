import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionError } from "fastify";
import { isAgentPath } from "./agent-paths.ts";
import { markBodyBroken } from "./body.ts";
import { makeRequestId } from "./request-id.ts";

/**
 * The latest response on a connection. Earlier responses on the same connection end before it. It
 * is a property of the connection, because changing a WeakMap for each request makes the garbage
 * collector's work noticeably longer.
 */
const LATEST = Symbol("latest response");
type Connection = Duplex & { [LATEST]?: ServerResponse };

/**
 * Remembers the response that the connection's next bytes belong to. The server calls this for
 * every request.
 */
export function noteResponse(
	request: IncomingMessage,
	response: ServerResponse,
): void {
	(request.socket as Connection)[LATEST] = response;
}

/**
 * Answers a request that Node's parser rejected. On the agents' paths, a method that the parser
 * does not know still gets 405, like every method except POST. A client that was too slow gets no
 * answer, because a 4xx would tell an agent never to retry.
 */
export function answerMalformed(error: ConnectionError, socket: Socket): void {
	if (!socket.writable || socket.destroyed) return;
	if (
		error.code === "ECONNRESET" ||
		error.code === "ERR_HTTP_REQUEST_TIMEOUT"
	) {
		socket.destroy();
		return;
	}
	const latest = (socket as Connection)[LATEST];
	if (latest && !latest.writableFinished && !latest.destroyed) {
		// The malformed bytes belong to the body of a request that is being answered, or follow that
		// body.
		if (!latest.req.complete) markBodyBroken(latest.req);
		latest.once("close", () =>
			setImmediate(() => answerMalformed(error, socket)),
		);
		return;
	}
	socket.end(isOtherMethod(error) ? methodNotAllowed() : badRequest());
}

/** Answers CONNECT, for which Node makes no response object. The service is not a proxy. */
export function answerConnect(request: IncomingMessage, socket: Duplex): void {
	socket.on("error", () => {});
	socket.end(
		isAgentPath(request.url ?? "") ? methodNotAllowed() : badRequest(),
	);
}

/**
 * Answers a request that lacks Host (RFC 9112, 3.2) in our own form. Otherwise Node would answer in
 * its form.
 */
export function answerMissingHost(response: ServerResponse): void {
	response.writeHead(400, {
		"x-request-id": makeRequestId(),
		"cache-control": "no-store",
		"x-content-type-options": "nosniff",
		"content-type": "application/json; charset=utf-8",
		"content-length": BAD_REQUEST.length,
		connection: "close",
	});
	response.end(BAD_REQUEST);
}

function isOtherMethod(error: ConnectionError): boolean {
	if (error.code !== "HPE_INVALID_METHOD") return false;
	// `rawPacket` is a Buffer, although its declared type says something else.
	const packet = error.rawPacket as unknown as Buffer | undefined;
	const target = /^\S+ (\S+) HTTP\//.exec(
		packet?.toString("latin1") ?? "",
	)?.[1];
	return target !== undefined && isAgentPath(target);
}

function methodNotAllowed(): string {
	return head("405 Method Not Allowed", ["allow: POST", "content-length: 0"]);
}

const BAD_REQUEST = JSON.stringify({
	error: "bad_request",
	message:
		"the request must be valid HTTP; check that its headers are complete and not too large",
});

function badRequest(): string {
	return (
		head("400 Bad Request", [
			"content-type: application/json; charset=utf-8",
			`content-length: ${BAD_REQUEST.length}`,
		]) + BAD_REQUEST
	);
}

function head(status: string, headers: string[]): string {
	return [
		`HTTP/1.1 ${status}`,
		`x-request-id: ${makeRequestId()}`,
		"cache-control: no-store",
		"x-content-type-options: nosniff",
		...headers,
		"connection: close",
		"\r\n",
	].join("\r\n");
}
