import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Random first part of all ids of this process. With a counter behind it, ids are unique and cheap
 * to make.
 */
const PROCESS = randomUUID().slice(0, 8);
let made = 0;

export function makeRequestId(): string {
	return `${PROCESS}-${++made}`;
}

/** Returns the request's own x-request-id if it is valid, or a new id. */
export function requestIdOf(request: IncomingMessage): string {
	const given = request.headers["x-request-id"];
	return typeof given === "string" && SANE.test(given)
		? given
		: makeRequestId();
}
