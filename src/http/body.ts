import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError, overloaded } from "../errors.ts";
import type { BodyRoom } from "../load/body-budget.ts";

/**
 * Time and number of bytes that the client may still send after an early answer. Then the service
 * closes the connection.
 */
const LINGER_MS = 1_000;
const LINGER_BYTES = 1 << 20;

const EMPTY = Buffer.alloc(0);

const BROKEN_BODY = "assay-broken-body";
const brokenBodies = new WeakSet<IncomingMessage>();

/**
 * Marks the body of a request as invalid HTTP. Code that reads the body, now or later, gets the
 * result "broken".
 */
export function markBodyBroken(request: IncomingMessage): void {
	brokenBodies.add(request);
	request.emit(BROKEN_BODY);
}

/** Returns true when the request's headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
	return (
		headers["transfer-encoding"] !== undefined ||
		(headers["content-length"] ?? "0") !== "0"
	);
}

/** The reason why a body was not read. */
export type UnreadBody = "too_large" | "broken" | "overloaded";

/**
 * Reads a request's body, or returns why it was not read:
 *
 * - "too_large": the body has more than `maxBytes`. Reading stops as soon as that is known.
 * - "broken": the body is not sent as valid HTTP.
 * - "overloaded": `room` is too small for the body.
 * - "aborted": the client closed the connection.
 */
export function readBody(
	request: IncomingMessage,
	maxBytes: number,
	room?: BodyRoom,
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
			room?.give(taken);
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
			if (room) {
				if (!room.take(chunk.length)) return stop("overloaded");
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

/**
 * Returns the parts of a request's body as they arrive, for a body that is too large for the memory.
 * Throws bad_request when the sender stops before its end, or sends it as invalid HTTP. The
 * connection stays open for the answer.
 */
export async function* bodyParts(
	request: IncomingMessage,
): AsyncGenerator<Buffer> {
	const { promise: broken, reject } = Promise.withResolvers<never>();
	broken.catch(() => {});
	const cutOff = () =>
		reject(
			new AppError(
				"bad_request",
				"the body ended before its announced end; send it again",
			),
		);
	// A request also closes when it has arrived whole, perhaps before its last part is read here.
	const closed = () => {
		if (!request.complete) cutOff();
	};
	if (brokenBodies.has(request)) cutOff();
	request.once(BROKEN_BODY, cutOff).once("close", closed);
	const parts = request.iterator({ destroyOnReturn: false });
	try {
		for (;;) {
			const part = await Promise.race([parts.next(), broken]);
			if (part.done) return;
			yield part.value;
		}
	} catch (error) {
		cutOff();
		await broken;
		throw error;
	} finally {
		request.off(BROKEN_BODY, cutOff).off("close", closed);
		void parts.return?.().catch(() => {});
	}
}

/**
 * Makes the error for a body that was not read. MCP answers such a request with a status of its
 * own.
 */
export function unreadBodyError(why: UnreadBody, maxBytes: number): AppError {
	if (why === "overloaded") return overloaded();
	return new AppError(
		"bad_request",
		why === "too_large"
			? `the body must have at most ${maxBytes} bytes; send less at a time`
			: "the body must be sent as valid HTTP; check Content-Length and the chunks",
	);
}

/**
 * Answers a request that was not read to its end, and then closes the connection. The client gets
 * the whole answer immediately. For a moment, the service reads and discards what the client still
 * sends. If it closed the connection while unread bytes remain, the client's operating system would
 * discard the answer.
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
	// The answer to HEAD has no body. Without this call, Node would hold back its headers until the
	// response ends.
	if (request.method === "HEAD") response.flushHeaders();
	// The content length tells the client that the answer is complete. The response is not ended
	// here, because that would close the connection immediately. If earlier requests on this
	// connection still wait for their answers, Node sends those first. Until then the service reads
	// nothing more and does not close the connection.
	response.write(body, (error) => {
		if (!error) discardRest(request, response);
	});
}

/** Discards the rest of the body for a short time, and then closes the connection. */
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
