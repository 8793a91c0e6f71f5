import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

interface QuickRequest {
	method?: string;
	headers?: Record<string, string>;
	body?: string | Uint8Array;
}

const agent = new Agent({ keepAlive: true });

/** A service may answer a larger body before it has read it, and only fetch copes with that. */
const MOST_BYTES = 64 * 1024;

/** Statuses whose answers have no body. */
const EMPTY = new Set([204, 205, 304]);

/**
 * Sends a request as fetch does, and resolves when the whole answer has arrived. It follows no
 * redirect and accepts no compressed answer. fetch takes three times as much processor time, 0.35 ms
 * more for each of the many thousand requests of the tests.
 */
export function quickRequest(
	url: string,
	{ method = "GET", headers = {}, body }: QuickRequest = {},
): Promise<Response> {
	const length = body === undefined ? 0 : Buffer.byteLength(body);
	if (length > MOST_BYTES) {
		return fetch(url, { method, headers, body } as RequestInit);
	}
	const { promise, resolve, reject } = Promise.withResolvers<Response>();
	const sent = request(url, {
		agent,
		method,
		headers: {
			accept: "*/*",
			"user-agent": "node",
			...(typeof body === "string" && {
				"content-type": "text/plain;charset=UTF-8",
			}),
			...(method !== "GET" && { "content-length": String(length) }),
			...headers,
		},
	});
	sent.on("error", reject);
	sent.on("response", (answer) => readAnswer(answer).then(resolve, reject));
	sent.end(body);
	return promise;
}

async function readAnswer(answer: IncomingMessage): Promise<Response> {
	const { statusCode: status = 0, rawHeaders } = answer;
	const headers = new Headers();
	for (let at = 0; at < rawHeaders.length; at += 2) {
		headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
	}
	const body = await buffer(answer);
	return new Response(EMPTY.has(status) ? null : new Uint8Array(body), {
		status,
		headers,
	});
}
