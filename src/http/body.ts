import type { IncomingMessage, ServerResponse } from "node:http";

/** What a client that was answered early may still send before we hang up. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 1 << 20;

const EMPTY = Buffer.alloc(0);

/** Emitted on a request whose body turned out not to be valid HTTP. */
export const BROKEN_BODY = "assay-broken-body";

/** True when the request's headers announce a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
	return (
		headers["transfer-encoding"] !== undefined ||
		(headers["content-length"] ?? "0") !== "0"
	);
}

/**
 * The bytes of a request's body; "too_large" as soon as it is known to have more than
 * `maxBytes` (nothing more is read then), "broken" when its framing is wrong, "aborted"
 * when the client went away.
 */
export function readBody(
	request: IncomingMessage,
	maxBytes: number,
): Promise<Buffer | "too_large" | "broken" | "aborted"> {
	if (Number(request.headers["content-length"]) > maxBytes) {
		return Promise.resolve("too_large");
	}
	return new Promise((resolve) => {
		let first: Buffer | undefined;
		let rest: Buffer[] | undefined;
		let length = 0;
		request.on("data", (chunk: Buffer) => {
			length += chunk.length;
			if (length > maxBytes) {
				request.pause();
				resolve("too_large");
			} else if (first === undefined) first = chunk;
			else if (rest === undefined) rest = [first, chunk];
			else rest.push(chunk);
		});
		request.on("end", () => {
			resolve(rest ? Buffer.concat(rest) : (first ?? EMPTY));
		});
		request.on(BROKEN_BODY, () => resolve("broken"));
		request.on("close", () => resolve("aborted"));
	});
}

/**
 * Ends a response whose request was not read to its end, and closes the connection.
 * The client gets the whole answer at once; what it still sends is thrown away for a
 * moment, because closing on unread bytes makes its system drop the answer.
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
	// Complete for the client by its length, but not ended: ending would close at once. Of requests sent one
	// behind the other the earlier are answered first; until then nothing more is read, and nothing closed.
	response.write(body, (error) => {
		if (!error) throwAway(request, response);
	});
}

/** What still comes is read for a moment, and the connection closed. */
function throwAway(request: IncomingMessage, response: ServerResponse): void {
	let thrownAway = 0;
	const hangUp = () => {
		clearTimeout(timer);
		response.end();
	};
	const timer = setTimeout(hangUp, LINGER_MS);
	request.removeAllListeners("data");
	request.on("data", (chunk: Buffer) => {
		thrownAway += chunk.length;
		if (thrownAway > LINGER_BYTES) {
			clearTimeout(timer);
			request.socket.destroy();
		}
	});
	request.on("end", hangUp);
	request.on("close", () => clearTimeout(timer));
	request.resume();
}
