import type { IncomingMessage, ServerResponse } from "node:http";
import { overloaded, RETRY_AFTER_SECONDS } from "../errors.ts";
import { endEarly } from "../http/body.ts";
import { requestIdOf } from "../http/request-id.ts";

/** A body of this length is thrown away as it comes; of a longer one nothing more is read. */
const LITTLE = 64 * 1024;
/** Of one turn of the event loop the most that goes into refusals; then it is the others' turn. */
const ANSWERING_MS = 100;
/** Between two looks at the clock. */
const AT_LEAST = 64;

/** Reading requests for longer than this without a pause, the service has more than it can do. */
const LONG_TURN_MS = 200;

const { code, message: MESSAGE } = overloaded();

interface Refusal {
	request: IncomingMessage;
	response: ServerResponse;
	common: Readonly<Record<string, string>>;
	isDraining: boolean;
	message: string;
}

let turnBeganAt: number | undefined;

/**
 * True when so many requests were ready at once that to read those so far took longer than may be:
 * the processor has no time, whatever the database has. To be asked for each request.
 */
export function isEventLoopBehind(): boolean {
	const now = performance.now();
	if (turnBeganAt !== undefined) return now - turnBeganAt > LONG_TURN_MS;
	turnBeganAt = now;
	setImmediate(() => {
		turnBeganAt = undefined;
	});
	return false;
}

/** Of all doors; the oldest first. */
let refusals: Refusal[] = [];

/**
 * Answers 503 to a request of which no more than the head was read. In a flood these are nearly
 * all requests, and what they cost is taken from the others: no body, no credential, no query, no
 * line in the log, and the connection stays open, because a new one costs more than the answer.
 *
 * Not at once but when the sockets at hand were read, and not all at a time: answered in between, a
 * thousand quick clients would have their next requests read before anything else is looked at,
 * the database's answers and timers included, for many seconds.
 */
export function answerOverloaded(
	request: IncomingMessage,
	response: ServerResponse,
	common: Readonly<Record<string, string>>,
	isDraining: boolean,
	message = MESSAGE,
): void {
	refusals.push({ request, response, common, isDraining, message });
	if (refusals.length === 1) setImmediate(answerSome);
}

function answerSome(): void {
	const until = performance.now() + ANSWERING_MS;
	let answered = 0;
	while (answered < refusals.length && performance.now() < until) {
		const next = refusals.slice(answered, answered + AT_LEAST);
		for (const refusal of next) answer(refusal);
		answered += next.length;
	}
	refusals = refusals.slice(answered);
	if (refusals.length > 0) setImmediate(answerSome);
}

function answer(refusal: Refusal): void {
	const { request, response, message } = refusal;
	const headers: Record<string, string> = {
		"x-request-id": requestIdOf(request),
		...refusal.common,
		"content-type": "application/json; charset=utf-8",
		"retry-after": String(RETRY_AFTER_SECONDS),
	};
	const body = JSON.stringify({ error: code, message });
	if (!isLittle(request)) {
		endEarly(request, response, 503, headers, body);
		return;
	}
	if (refusal.isDraining) headers.connection = "close";
	headers["content-length"] = String(Buffer.byteLength(body));
	response.writeHead(503, headers);
	response.end(body);
}

function isLittle({ headers }: IncomingMessage): boolean {
	return (
		headers["transfer-encoding"] === undefined &&
		Number(headers["content-length"] ?? 0) <= LITTLE
	);
}
