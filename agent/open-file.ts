import type {
	ClientRequest,
	request as httpRequest,
	IncomingMessage,
	RequestOptions,
} from "node:http";
import { AgentError } from "./agent-error.ts";
import { Stopped } from "./request-errors.ts";

/** Milliseconds without a byte after which a download ends. */
const IDLE_MS = 60_000;

/** Sends a GET, and returns the answer if it is 200. */
export function openFile(
	request: typeof httpRequest,
	url: URL,
	options: RequestOptions,
): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		const sent: ClientRequest = request(url, options);
		sent.setTimeout(IDLE_MS, () =>
			sent.destroy(new Stopped("nothing arrived for a minute")),
		);
		sent.on("error", reject);
		sent.on("response", (response) => {
			if (response.statusCode === 200) return resolve(response);
			response.resume();
			reject(
				new AgentError(
					`the service answered ${response.statusCode} when the agent asked for ${url.pathname}`,
				),
			);
		});
		sent.end();
	});
}

/** Passes the bytes of an answer on. Throws an AgentError if there are more than `maxBytes`. */
export async function* bounded(
	response: IncomingMessage,
	maxBytes: number,
): AsyncGenerator<Buffer> {
	let bytes = 0;
	for await (const chunk of response) {
		bytes += chunk.length;
		if (bytes > maxBytes) {
			throw new AgentError(
				`the answer of the service is longer than ${maxBytes} bytes`,
			);
		}
		yield chunk;
	}
}
