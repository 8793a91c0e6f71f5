import type { IncomingMessage, ServerResponse } from "node:http";
import { overloaded, RETRY_AFTER_SECONDS } from "../errors.ts";
import { endEarly } from "../http/body.ts";
import { requestIdOf } from "../http/request-id.ts";

/** A body up to this length is read and discarded. A longer one is not read. */
const LITTLE = 64 * 1024;
/** Longest time, in milliseconds, that one turn of the event loop may spend on 503 answers. */
const ANSWERING_MS = 100;
/** Answers between two looks at the clock. */
const AT_LEAST = 64;

/** A service that reads requests for longer than this without a pause is overloaded. */
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
 * True if so many requests were ready at once that reading them took too long: the processor has no
 * time left, even if the database has. Call it for each request.
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

/** Requests of all doors that get 503, oldest first. */
let refusals: Refusal[] = [];

/**
 * Answers 503 to a request after reading only its head. In a flood these are nearly all requests,
 * and their cost is taken from the others. They therefore cost no body, no credential, no query and
 * no line in the log, and the connection stays open, because a new one costs more than the answer.
 *
 * The answers are queued and sent in short slices after the ready sockets were read. Answering each
 * one immediately would let a thousand fast clients keep the event loop busy for many seconds, and
 * timers and database replies would have to wait.
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
