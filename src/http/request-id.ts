import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** The request's own x-request-id when it is a sane one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
	const given = request.headers["x-request-id"];
	return typeof given === "string" && SANE.test(given) ? given : randomUUID();
}
