import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { type OutgoingRule, resolveAllowed } from "./outgoing-address.ts";

export interface OutgoingRequest {
	method?: string;
	headers?: Record<string, string>;
	body?: string | undefined;
	/** Longest time, in milliseconds, until the whole answer is there. */
	maxMs?: number;
	/** Largest answer, in bytes. */
	maxBytes?: number;
}

/** Statuses whose answer has no body. */
const WITHOUT_BODY = [204, 205, 304];

/**
 * Sends a request to an address that somebody else chose, and returns the answer. Asks only public
 * addresses, and those that the operator allows. Follows no redirect.
 *
 * Rejects if the address is not allowed, the connection fails, or the answer is too long or too slow.
 */
export async function fetchOutgoing(
	url: URL,
	rule: OutgoingRule,
	{
		method = "GET",
		headers = {},
		body,
		maxMs = 10_000,
		maxBytes = 256 * 1024,
	}: OutgoingRequest = {},
): Promise<Response> {
	const signal = AbortSignal.timeout(maxMs);
	const resolved = await resolveAllowed(url.hostname, rule);
	const { promise, resolve, reject } = Promise.withResolvers<Response>();
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
		response.on("data", (chunk: Buffer) => {
			size += chunk.length;
			chunks.push(chunk);
			if (size <= maxBytes) return;
			reject(new Error(`the answer has more than ${maxBytes} bytes`));
			sent.destroy();
		});
		response.on("end", () => {
			const status = response.statusCode ?? 500;
			const type = response.headers["content-type"];
			resolve(
				new Response(
					WITHOUT_BODY.includes(status) ? null : Buffer.concat(chunks),
					{ status, headers: type ? { "content-type": type } : {} },
				),
			);
		});
		response.on("error", reject);
	});
	sent.on("error", (error) =>
		reject(
			signal.aborted
				? new Error(`there was no complete answer within ${maxMs / 1000} s`)
				: error,
		),
	);
	// Some answers end neither well nor with an error, such as one that switches the protocol.
	sent.on("close", () =>
		reject(new Error("the connection was closed before a complete answer")),
	);
	sent.end(body);
	return promise;
}
