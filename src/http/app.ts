import { createServer, type Server } from "node:http";
import Fastify, {
	type FastifyBaseLogger,
	type FastifyError,
	type FastifyInstance,
	type FastifyReply,
	type FastifyRequest,
	LogController,
} from "fastify";
import type { Pool } from "pg";
import type { Logger } from "pino";
import {
	AppError,
	overloaded,
	RETRY_AFTER_SECONDS,
	toAppError,
} from "../errors.ts";
import type { Services } from "../invoke.ts";
import type { OutageLog } from "../load/outage-log.ts";
import type { Catalogue } from "../mcp/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Identity } from "../sign-in/identity.ts";
import type { ResetParts } from "../sign-in/password-reset.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { AgentApi } from "./agent-api.ts";
import type { AddressOf } from "./client-address.ts";
import { addConsole } from "./console.ts";
import { addConsoleFiles, type ConsoleFiles } from "./console-files.ts";
import { addHealth } from "./health.ts";
import {
	answerConnect,
	answerMalformed,
	answerMissingHost,
	noteResponse,
} from "./malformed-requests.ts";
import { addOpenapi } from "./openapi.ts";
import { requestIdOf } from "./request-id.ts";
import { securityHeaders } from "./security-headers.ts";
import type { ToolServer } from "./tool-server.ts";

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Above the idle time of the usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 75_000;
/** Calls that wait for the database; of programs no more are begun long before (tool-server.ts). */
const MAX_WAITING = 128;

export interface AppParts {
	pool: Pool;
	/** One connection of its own: before those of the others there may be a crowd. */
	healthPool: Pool;
	log: Logger;
	outageLog: OutageLog;
	agentApi: AgentApi;
	services: Services;
	identity: Identity;
	account: ResetParts;
	toolServer: ToolServer;
	addressOf: AddressOf;
	catalogue: Catalogue;
	isDraining: () => boolean;
	/** Sees every request; absent: nobody asks for metrics. */
	observe?: Metrics["observe"] | undefined;
	/** Absent: nobody asks for traces. */
	tracing?: Tracing | undefined;
	webConsole: ConsoleFiles | string;
}

/** The HTTP server: the Device Agent API and the tool server in front, the rest through Fastify. */
export function makeApp(parts: AppParts): FastifyInstance {
	const common = {
		"cache-control": "no-store",
		...securityHeaders(parts.services.baseUrl),
	};
	const app: FastifyInstance = Fastify({
		loggerInstance: parts.log as FastifyBaseLogger,
		logController: new LogController({ disableRequestLogging: true }),
		requestIdHeader: false,
		genReqId: (raw) => requestIdOf(raw as Parameters<typeof requestIdOf>[0]),
		forceCloseConnections: "idle",
		clientErrorHandler: answerMalformed,
		// Before any route is found: an address that cannot be read.
		frameworkErrors: (thrown, request, reply) => {
			addHeaders(request, reply, common);
			return sendError(parts.outageLog, thrown, request, reply);
		},
		serverFactory: (handler) => makeServer(parts, handler),
	});

	const { tracing } = parts;
	if (tracing) {
		app.addHook("preValidation", (request, _reply, done) =>
			tracing.resume(request.raw, done),
		);
	}
	app.addHook("onRequest", async ({ url }) => {
		const { waitingCount } = parts.pool;
		if (url.startsWith("/api/") && waitingCount > MAX_WAITING)
			throw overloaded();
	});
	app.addHook("onSend", async (request, reply) => {
		addHeaders(request, reply, common);
		if (parts.isDraining()) reply.header("connection", "close");
	});
	app.setNotFoundHandler(() => {
		throw new AppError("not_found", "there is nothing at this address");
	});
	app.setErrorHandler((thrown, request, reply) =>
		sendError(parts.outageLog, thrown, request, reply),
	);
	addHealth(app, parts.healthPool, parts.isDraining);
	addOpenapi(app, parts.catalogue, parts.services.baseUrl);
	addConsole(app, parts);
	addConsoleFiles(app, parts.webConsole, parts.identity.prepare);
	return app;
}

function makeServer(
	{ agentApi, toolServer, observe, tracing }: AppParts,
	handler: (
		request: Parameters<AgentApi["handle"]>[0],
		response: Parameters<AgentApi["handle"]>[1],
	) => void,
): Server {
	const answer: typeof handler = (request, response) => {
		noteResponse(request, response);
		observe?.(request, response);
		const { host } = request.headers;
		if (host === undefined && request.httpVersion === "1.1") {
			return answerMissingHost(response);
		}
		if (agentApi.handle(request, response)) return;
		if (!toolServer.handle(request, response)) handler(request, response);
	};
	const server = createServer(
		{
			headersTimeout: HEADERS_TIMEOUT_MS,
			requestTimeout: REQUEST_TIMEOUT_MS,
			keepAliveTimeout: KEEP_ALIVE_MS,
			requireHostHeader: false,
		},
		tracing
			? (request, response) =>
					tracing.request(request, response, () => answer(request, response))
			: answer,
	);
	// An expectation we do not know is no reason to refuse (Node would answer 417).
	server.on("checkExpectation", (request, response) => {
		server.emit("request", request, response);
	});
	server.on("connect", answerConnect);
	return server;
}

/** What a route has said itself stands. */
function addHeaders(
	request: FastifyRequest,
	reply: FastifyReply,
	common: Readonly<Record<string, string>>,
): void {
	reply.header("x-request-id", request.id);
	for (const [name, value] of Object.entries(common)) {
		if (!reply.hasHeader(name)) reply.header(name, value);
	}
}

function sendError(
	outageLog: OutageLog,
	thrown: unknown,
	request: FastifyRequest,
	reply: FastifyReply,
): FastifyReply {
	const error = toHttpError(thrown);
	if (error.status >= 500) {
		outageLog.note(thrown, { requestId: request.id }, "request failed");
	}
	if (error.code === "service_unavailable") {
		reply.header("retry-after", RETRY_AFTER_SECONDS);
	}
	return reply
		.status(error.status)
		.send({ error: error.code, message: error.message, fields: error.fields });
}

/** The framework's own refusals (a body it cannot read, a bad URL) are the caller's fault. */
function toHttpError(thrown: unknown): AppError {
	const { statusCode: status, code } = thrown as Partial<FastifyError>;
	if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
		return new AppError(
			"bad_request",
			"the body must be JSON, with the header Content-Type: application/json",
		);
	}
	if (typeof status === "number" && status >= 400 && status < 500) {
		return new AppError(
			"bad_request",
			"the request's address or body cannot be read",
		);
	}
	return toAppError(thrown);
}
