import type { IncomingMessage, ServerResponse } from "node:http";
import { overloaded, RETRY_AFTER_SECONDS } from "../errors.ts";
import { endEarly } from "../http/body.ts";
import { requestIdOf } from "../http/request-id.ts";

/**
 * Longest body, in bytes, that is read and discarded. The service does not read a longer one, and
 * closes the connection.
 */
const MAX_DISCARDED_BYTES = 64 * 1024;
/** Longest time, in milliseconds, that one turn of the event loop may spend on 503 answers. */
const ANSWERING_MS = 100;
/** Number of answers that are sent before the code looks at the clock again. */
const ANSWERS_PER_CLOCK_READ = 64;

/**
 * Longest time that the service may read requests without a pause. If it takes longer, the service
 * is overloaded.
 */
const LONG_TURN_MS = 200;

/**
 * Number of requests that one turn always reads. A turn with fewer was long for another reason: the
 * machine was busy, or the process had just started. Turning these requests away would save nothing.
 * A rollout, for example, makes 40 laptops enroll at once.
 */
const ALWAYS_READ = 128;

const { code, message: MESSAGE } = overloaded();

interface Refusal {
	request: IncomingMessage;
	response: ServerResponse;
	common: Readonly<Record<string, string>>;
	isDraining: boolean;
	message: string;
}

let turn: { beganAt: number; read: number } | undefined;

/**
 * Returns true if so many requests were ready at once that reading them took too long. The
 * processor is then overloaded, even if the database is not. Call this for each request.
 */
export function isEventLoopBehind(): boolean {
	const now = performance.now();
	if (!turn) {
		turn = { beganAt: now, read: 0 };
		setImmediate(() => {
			turn = undefined;
		});
	}
	return turn.read++ >= ALWAYS_READ && now - turn.beganAt > LONG_TURN_MS;
}

/** Requests at all doors that will get a 503, oldest first. */
let refusals: Refusal[] = [];

/**
 * Answers 503 to a request after reading only its headers. In a flood, most requests are answered
 * in this way, and every one of them takes time from the others. The service therefore reads no
 * body, checks no credential, runs no query and logs nothing for them. The connection stays open,
 * because a new connection costs more than the answer.
 *
 * The answers are queued and sent in short slices, after the sockets that were ready have been
 * read. Answering each request immediately would let a thousand fast clients keep the event loop
 * busy for many seconds, and timers and database replies would have to wait.
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
		const next = refusals.slice(answered, answered + ANSWERS_PER_CLOCK_READ);
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
	if (!hasSmallBody(request)) {
		endEarly(request, response, 503, headers, body);
		return;
	}
	if (refusal.isDraining) headers.connection = "close";
	headers["content-length"] = String(Buffer.byteLength(body));
	response.writeHead(503, headers);
	response.end(body);
}

function hasSmallBody({ headers }: IncomingMessage): boolean {
	return (
		headers["transfer-encoding"] === undefined &&
		Number(headers["content-length"] ?? 0) <= MAX_DISCARDED_BYTES
	);
}
