import type { OutgoingRule } from "./outgoing-address.ts";
import { requestOutgoing } from "./request-outgoing.ts";

export interface Answer {
	status: number;
	/** The beginning of the body. */
	text: string;
	durationMs: number;
}

const MAX_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const KEPT_CHARACTERS = 1000;

/**
 * Sends a POST request with `requestOutgoing`, and returns the answer, whatever its status. Reads at
 * most 64 KiB of the answer, and closes the connection.
 */
export async function post(
	url: string,
	body: string,
	headers: Record<string, string>,
	rule: OutgoingRule,
	maxMs = MAX_MS,
): Promise<Answer> {
	const startedAt = performance.now();
	const answer = await requestOutgoing(new URL(url), rule, {
		method: "POST",
		headers,
		body,
		maxMs,
		maxBytes: MAX_ANSWER_BYTES,
	});
	return {
		status: answer.status,
		text: toText(answer.body),
		durationMs: Math.round(performance.now() - startedAt),
	};
}

/** Returns the beginning of a body as text that the database can store. */
function toText(body: Buffer): string {
	return body
		.toString("utf8")
		.replaceAll("\0", "")
		.slice(0, KEPT_CHARACTERS)
		.toWellFormed();
}
