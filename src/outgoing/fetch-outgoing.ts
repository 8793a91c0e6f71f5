import type { OutgoingRule } from "./outgoing-address.ts";
import { type OutgoingRequest, requestOutgoing } from "./request-outgoing.ts";

/** Statuses whose answer has no body. */
const WITHOUT_BODY = [204, 205, 304];

/**
 * Does what `requestOutgoing` does, and returns the answer as `fetch` would. Rejects also if the
 * answer is too long.
 */
export async function fetchOutgoing(
	url: URL,
	rule: OutgoingRule,
	wanted: Partial<OutgoingRequest> = {},
): Promise<Response> {
	const request = { maxMs: 10_000, maxBytes: 256 * 1024, ...wanted };
	const { status, contentType, body, isCut } = await requestOutgoing(
		url,
		rule,
		request,
	);
	if (isCut) {
		throw new Error(`the answer has more than ${request.maxBytes} bytes`);
	}
	return new Response(
		WITHOUT_BODY.includes(status) ? null : new Uint8Array(body),
		{
			status: status || 500,
			headers: contentType ? { "content-type": contentType } : {},
		},
	);
}
