import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { type OutgoingRule, resolveAllowed } from "./outgoing-address.ts";

export interface OutgoingRequest {
	method?: string;
	headers?: Record<string, string>;
	body?: string | undefined;
	/** Longest time, in milliseconds, from the name's resolution to the end of the answer. */
	maxMs: number;
	/** Bytes of the body after which the service stops reading, and closes the connection. */
	maxBytes: number;
}

export interface OutgoingAnswer {
	status: number;
	contentType: string | undefined;
	body: Buffer;
	/** True if the body is longer. `body` is its beginning. */
	isCut: boolean;
}

/**
 * Sends a request to an address that somebody else chose, and returns the answer, whatever its
 * status. Asks only public addresses, and those that the operator allows. Follows no redirect.
 *
 * Rejects if the address is not allowed, the connection fails or the answer takes too long.
 */
export async function requestOutgoing(
	url: URL,
	rule: OutgoingRule,
	{ method = "GET", headers = {}, body, maxMs, maxBytes }: OutgoingRequest,
): Promise<OutgoingAnswer> {
	const signal = AbortSignal.timeout(maxMs);
	const resolved = await inTime(
		resolveAllowed(url.hostname, rule),
		signal,
		maxMs,
	);
	const { promise, resolve, reject } = Promise.withResolvers<OutgoingAnswer>();
	const options: RequestOptions = {
		method,
		agent: false,
		signal,
		headers: {
			...headers,
			connection: "close",
			...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
		},
		// The connection goes to the address that was checked.
		lookup: (_host, wish, done) => {
			if (wish.all) done(null, [resolved]);
			else done(null, resolved.address, resolved.family);
		},
	};
	const send = url.protocol === "https:" ? httpsRequest : httpRequest;
	const sent = send(url, options, (response) => {
		const chunks: Buffer[] = [];
		let size = 0;
		const end = () => {
			resolve({
				status: response.statusCode ?? 0,
				contentType: response.headers["content-type"],
				body: Buffer.concat(chunks).subarray(0, maxBytes),
				isCut: size > maxBytes,
			});
			sent.destroy();
		};
		response.on("data", (chunk: Buffer) => {
			size += chunk.length;
			chunks.push(chunk);
			if (size > maxBytes) end();
		});
		response.on("end", end);
		response.on("error", reject);
	});
	sent.on("error", (error) => reject(signal.aborted ? tooSlow(maxMs) : error));
	// Some answers end neither well nor with an error, such as one that switches the protocol.
	sent.on("close", () =>
		reject(new Error("the connection was closed before a complete answer")),
	);
	sent.end(body);
	return promise;
}

function tooSlow(maxMs: number): Error {
	return new Error(`there was no complete answer within ${maxMs / 1000} s`);
}

/** Returns what `work` resolves to. Rejects when the signal is aborted first. */
async function inTime<T>(
	work: Promise<T>,
	signal: AbortSignal,
	maxMs: number,
): Promise<T> {
	const { promise, reject } = Promise.withResolvers<never>();
	signal.addEventListener("abort", () => reject(tooSlow(maxMs)));
	return Promise.race([work, promise]);
}
