import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import Fastify, {
	type ConnectionError,
	type FastifyBaseLogger,
	type FastifyInstance,
	LogController,
} from "fastify";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { AppError, RETRY_AFTER_SECONDS, toAppError } from "../errors.ts";
import { type AgentApi, isAgentPath } from "./agent-api.ts";
import { addHealth } from "./health.ts";
import { requestIdOf } from "./request-id.ts";

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Above the idle time of the usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 75_000;

export interface AppParts {
	pool: Pool;
	log: Logger;
	agentApi: AgentApi;
	isDraining: () => boolean;
}

/** The HTTP server: the Device Agent API in front, everything else through Fastify. */
export function makeApp(parts: AppParts): FastifyInstance {
	const app: FastifyInstance = Fastify({
		loggerInstance: parts.log as FastifyBaseLogger,
		logController: new LogController({ disableRequestLogging: true }),
		requestIdHeader: false,
		genReqId: (raw) => requestIdOf(raw as Parameters<typeof requestIdOf>[0]),
		forceCloseConnections: "idle",
		clientErrorHandler: refuseUnreadable,
		serverFactory: (handler) => makeServer(parts.agentApi, handler),
	});

	app.addHook("onSend", async (request, reply) => {
		reply.headers({
			"x-request-id": request.id,
			"x-content-type-options": "nosniff",
		});
		if (!reply.hasHeader("cache-control")) {
			reply.header("cache-control", "no-store");
		}
		if (parts.isDraining()) reply.header("connection", "close");
	});
	app.setNotFoundHandler(() => {
		throw new AppError("not_found", "there is nothing at this address");
	});
	app.setErrorHandler((thrown, request, reply) => {
		const error = toHttpError(thrown);
		if (error.status >= 500) {
			request.log.error(
				{ requestId: request.id, err: thrown },
				"request failed",
			);
		}
		if (error.code === "service_unavailable") {
			reply.header("retry-after", RETRY_AFTER_SECONDS);
		}
		return reply
			.status(error.status)
			.send({ error: error.code, message: error.message });
	});
	addHealth(app, parts.pool, parts.isDraining);
	return app;
}

function makeServer(
	agentApi: AgentApi,
	handler: (
		request: Parameters<AgentApi["handle"]>[0],
		response: Parameters<AgentApi["handle"]>[1],
	) => void,
): Server {
	const server = createServer(
		{
			headersTimeout: HEADERS_TIMEOUT_MS,
			requestTimeout: REQUEST_TIMEOUT_MS,
			keepAliveTimeout: KEEP_ALIVE_MS,
		},
		(request, response) => {
			if (!agentApi.handle(request, response)) handler(request, response);
		},
	);
	// An expectation we do not know is no reason to refuse (Node would answer 417).
	server.on("checkExpectation", (request, response) => {
		server.emit("request", request, response);
	});
	return server;
}

/** The framework's own refusals (a body it cannot read, a bad URL) are the caller's fault. */
function toHttpError(thrown: unknown): AppError {
	const status = (thrown as { statusCode?: unknown }).statusCode;
	if (typeof status === "number" && status >= 400 && status < 500) {
		return new AppError("bad_request", (thrown as Error).message);
	}
	return toAppError(thrown);
}

/**
 * Answers what Node's parser refused before there was a request. A method it does not
 * know is still a method other than POST on the agents' paths; a client that was too
 * slow gets no answer, since a 4xx would tell an agent never to try again.
 */
function refuseUnreadable(error: ConnectionError, socket: Socket): void {
	if (!socket.writable || socket.destroyed) return;
	if (
		error.code === "ECONNRESET" ||
		error.code === "ERR_HTTP_REQUEST_TIMEOUT"
	) {
		socket.destroy();
		return;
	}
	// A Buffer, whatever its declared type says.
	const packet = (error.rawPacket as unknown as Buffer)?.toString("latin1");
	const target = /^\S+ (\S+) HTTP\//.exec(packet ?? "")?.[1];
	if (error.code === "HPE_INVALID_METHOD" && target && isAgentPath(target)) {
		socket.end(
			"HTTP/1.1 405 Method Not Allowed\r\nallow: POST\r\ncache-control: no-store\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
		);
		return;
	}
	const body = JSON.stringify({
		error: "bad_request",
		message: "the request is not valid HTTP",
	});
	socket.end(
		`HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\ncache-control: no-store\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
	);
}
