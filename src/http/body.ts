import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError, overloaded } from "../errors.ts";
import type { BodyBudget } from "../load/body-budget.ts";

/** Time and bytes that a client may still send after an early answer, before we hang up. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 1 << 20;

const EMPTY = Buffer.alloc(0);

const BROKEN_BODY = "assay-broken-body";
const brokenBodies = new WeakSet<IncomingMessage>();

/** Marks the body as invalid HTTP, for the code that reads it now or later. */
export function markBodyBroken(request: IncomingMessage): void {
	brokenBodies.add(request);
	request.emit(BROKEN_BODY);
}

/** True when the request's headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
	return (
		headers["transfer-encoding"] !== undefined ||
		(headers["content-length"] ?? "0") !== "0"
	);
}

/** The reason why a body was not read. */
export type UnreadBody = "too_large" | "broken" | "overloaded";

/**
 * Reads a request's body. Returns "too_large" as soon as the body is known to have more than
 * `maxBytes`, and then stops reading; "broken" when its framing is wrong; "overloaded" when
 * `budget` has no room for it; "aborted" when the client went away.
 */
export function readBody(
	request: IncomingMessage,
	maxBytes: number,
	budget?: BodyBudget,
): Promise<Buffer | UnreadBody | "aborted"> {
	if (Number(request.headers["content-length"]) > maxBytes) {
		return Promise.resolve("too_large");
	}
	if (brokenBodies.has(request)) return Promise.resolve("broken");
	if (request.destroyed) return Promise.resolve("aborted");
	return new Promise((resolve) => {
		let first: Buffer | undefined;
		let rest: Buffer[] | undefined;
		let length = 0;
		let taken = 0;
		const end = (result: Buffer | UnreadBody | "aborted") => {
			budget?.give(taken);
			taken = 0;
			resolve(result);
		};
		const stop = (result: UnreadBody) => {
			request.removeListener("data", read);
			request.pause();
			end(result);
		};
		const read = (chunk: Buffer) => {
			length += chunk.length;
			if (length > maxBytes) return stop("too_large");
			if (budget) {
				if (!budget.take(chunk.length)) return stop("overloaded");
				taken += chunk.length;
			}
			if (first === undefined) first = chunk;
			else if (rest === undefined) rest = [first, chunk];
			else rest.push(chunk);
		};
		request.on("data", read);
		request.on("end", () => {
			end(rest ? Buffer.concat(rest) : (first ?? EMPTY));
		});
		request.on(BROKEN_BODY, () => end("broken"));
		request.on("close", () => end("aborted"));
	});
}

/** Makes the error of a body that was not read. MCP answers with a status of its own. */
export function unreadBodyError(why: UnreadBody, maxBytes: number): AppError {
	if (why === "overloaded") return overloaded();
	return new AppError(
		"bad_request",
		why === "too_large"
			? `the body has more than ${maxBytes} bytes, the limit here; send less at a time`
			: "the body is not sent as valid HTTP",
	);
}

/**
 * Ends a response whose request was not read to its end, and closes the connection. The client
 * gets the whole answer at once. The service discards what the client still sends for a moment,
 * because closing on unread bytes makes the client's system drop the answer.
 */
export function endEarly(
	request: IncomingMessage,
	response: ServerResponse,
	status: number,
	headers: Record<string, string>,
	body: string,
): void {
	response.writeHead(status, {
		...headers,
		"content-length": String(Buffer.byteLength(body)),
		connection: "close",
	});
	// Node would keep the head of an answer without a body until the end.
	if (request.method === "HEAD") response.flushHeaders();
	// The length makes the answer complete for the client, but the response is not ended: ending it
	// would close the connection at once. Node writes the body after the answers to requests that
	// were sent earlier on this connection; nothing more is read and nothing closed until then.
	response.write(body, (error) => {
		if (!error) discardRest(request, response);
	});
}

/** Reads and discards what still comes for a moment, then closes the connection. */
function discardRest(request: IncomingMessage, response: ServerResponse): void {
	let discarded = 0;
	const hangUp = () => {
		clearTimeout(timer);
		response.end();
	};
	const timer = setTimeout(hangUp, LINGER_MS);
	request.removeAllListeners("data");
	request.on("data", (chunk: Buffer) => {
		discarded += chunk.length;
		if (discarded > LINGER_BYTES) {
			clearTimeout(timer);
			request.socket.destroy();
		}
	});
	request.on("end", hangUp);
	request.on("close", () => clearTimeout(timer));
	request.resume();
}
