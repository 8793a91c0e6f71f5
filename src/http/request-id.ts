import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** Drawn once a process: with a count it makes ids that are unique and cheap. */
const PROCESS = randomUUID().slice(0, 8);
let made = 0;

export function makeRequestId(): string {
	return `${PROCESS}-${++made}`;
}

/** The request's own x-request-id when it is a sane one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
	const given = request.headers["x-request-id"];
	return typeof given === "string" && SANE.test(given)
		? given
		: makeRequestId();
}
