import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type OutgoingRule, resolveAllowed } from "./outgoing-address.ts";

export interface Answer {
	status: number;
	/** The beginning of the body. */
	text: string;
	durationMs: number;
}

/** Longest time for one request, from the name's resolution to the end of the answer. */
const MAX_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const KEPT_CHARACTERS = 1000;

/**
 * Sends a POST request and returns the answer, whatever its status. Does not follow redirects.
 * Rejects if the address is not allowed, the connection fails or the answer takes too long. Reads
 * at most 64 KiB of the answer, and closes the connection.
 */
export async function post(
	url: string,
	body: string,
	headers: Record<string, string>,
	rule: OutgoingRule,
	maxMs = MAX_MS,
): Promise<Answer> {
	const startedAt = performance.now();
	const target = new URL(url);
	const signal = AbortSignal.timeout(maxMs);
	const resolved = await inTime(
		resolveAllowed(target.hostname, rule),
		signal,
		maxMs,
	);
	const send = target.protocol === "https:" ? httpsRequest : httpRequest;
	const { promise, resolve, reject } = Promise.withResolvers<Answer>();
	const request = send(
		target,
		{
			method: "POST",
			agent: false,
			signal,
			headers: {
				...headers,
				"content-length": Buffer.byteLength(body),
				connection: "close",
			},
			// The connection goes to the address that was checked.
			lookup: (_host, options, done) => {
				if (options.all) done(null, [resolved]);
				else done(null, resolved.address, resolved.family);
			},
		},
		(response) => {
			const chunks: Buffer[] = [];
			let size = 0;
			const end = () => {
				resolve({
					status: response.statusCode ?? 0,
					text: toText(Buffer.concat(chunks)),
					durationMs: Math.round(performance.now() - startedAt),
				});
				request.destroy();
			};
			response.on("data", (chunk: Buffer) => {
				size += chunk.length;
				if (size <= MAX_ANSWER_BYTES) chunks.push(chunk);
				else end();
			});
			response.on("end", end);
			response.on("error", reject);
		},
	);
	request.on("error", (error) =>
		reject(signal.aborted ? tooSlow(maxMs) : error),
	);
	// Some answers end neither well nor with an error, such as one that switches the protocol.
	request.on("close", () =>
		reject(new Error("the connection was closed before a complete answer")),
	);
	request.end(body);
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

/** Returns the beginning of a body as text that the database can store. */
function toText(body: Buffer): string {
	return body
		.toString("utf8")
		.replaceAll("\0", "")
		.slice(0, KEPT_CHARACTERS)
		.toWellFormed();
}
