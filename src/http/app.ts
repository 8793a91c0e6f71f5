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
import type { PackageFolder } from "../agent-packages/package-folder.ts";
import {
	AppError,
	InMaintenance,
	overloaded,
	RETRY_AFTER_SECONDS,
	toAppError,
} from "../errors.ts";
import type { Services } from "../invoke.ts";
import { STRANGERS_BODIES, USERS_BODIES } from "../load/body-budget.ts";
import type { Maintenance } from "../load/maintenance.ts";
import type { OutageLog } from "../load/outage-log.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import type { Catalogue } from "../mcp/catalogue.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ClosedOrganizations } from "../organizations/closed-organizations.ts";
import type { Identity } from "../sign-in/identity.ts";
import type { ResetParts } from "../sign-in/password-reset.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { AccessLog } from "./access-log.ts";
import {
	addAdmission,
	callerOf,
	nothingHere,
	type RouteSummary,
} from "./admission.ts";
import type { AgentApi } from "./agent-api.ts";
import { addAgentPackages } from "./agent-packages.ts";
import { endEarly, hasBody, readBody, unreadBodyError } from "./body.ts";
import type { AddressOf } from "./client-address.ts";
import { addConsole, makeAuthenticate } from "./console.ts";
import { addConsoleFiles, type ConsoleFiles } from "./console-files.ts";
import type { AllowedOrigins } from "./cross-origin.ts";
import { addHealth, instanceOf } from "./health.ts";
import { requireLimitedShape } from "./json.ts";
import {
	answerConnect,
	answerMalformed,
	answerMissingHost,
	noteResponse,
} from "./malformed-requests.ts";
import { addOauthConsent, type ConsentParts } from "./oauth-consent.ts";
import { addOpenapi } from "./openapi.ts";
import type { ExportConnections } from "./organization-file.ts";
import type { ProviderParts } from "./provider-sign-in.ts";
import { requestIdOf } from "./request-id.ts";
import type { ScimDoor } from "./scim-door.ts";
import { securityHeaders } from "./security-headers.ts";
import type { ToolServer } from "./tool-server.ts";

const HEADERS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Time that an idle connection stays open. The usual load balancers close idle connections after 60
 * s, so they close first.
 */
const KEEP_ALIVE_MS = 75_000;
/**
 * Limit of calls that wait for a database connection. The tool server turns calls away much earlier
 * (see tool-server.ts).
 */
const MAX_WAITING = 128;

export interface AppParts {
	pool: Pool;
	/**
	 * A separate connection for the health check, because many requests may wait for the connections
	 * of the other pools.
	 */
	healthPool: Pool;
	log: Logger;
	outageLog: OutageLog;
	agentApi: AgentApi;
	services: Services;
	identity: Identity;
	account: ResetParts;
	providerSignIn: ProviderParts["providerSignIn"];
	toolServer: ToolServer;
	scim: ScimDoor;
	maintenance: Maintenance;
	closed: ClosedOrganizations;
	addressOf: AddressOf;
	exportConnections: ExportConnections;
	allowedOrigins: AllowedOrigins;
	catalogue: Catalogue;
	isDraining: () => boolean;
	/** Observes every request. Undefined if metrics are off. */
	observe?: Metrics["observe"] | undefined;
	/** Logs every request. Undefined if the access log is off. */
	accessLog?: AccessLog | undefined;
	/** The tracing of requests. Undefined if tracing is off. */
	tracing?: Tracing | undefined;
	webConsole: ConsoleFiles | string;
	/** What the consent page of OAuth needs. Undefined if OAuth is off. */
	oauthConsent?: ConsentParts | undefined;
	/** The packages of the agent. Undefined if the service offers none. */
	agentPackages?: PackageFolder | undefined;
}

export interface App {
	server: FastifyInstance;
	/**
	 * The routes that Fastify serves. The Device Agent API and the tool server answer before them.
	 */
	routes: readonly RouteSummary[];
}

/**
 * Makes the HTTP server. The Device Agent API and the tool server see each request first, and
 * Fastify gets the rest.
 */
export function makeApp(parts: AppParts): App {
	const common = {
		"cache-control": "no-store",
		...securityHeaders(parts.services.baseUrl),
	};
	const answerError = (
		thrown: unknown,
		request: FastifyRequest,
		reply: FastifyReply,
	) => sendError(parts.outageLog, thrown, request, reply, common);
	const app: FastifyInstance = Fastify({
		loggerInstance: parts.log as FastifyBaseLogger,
		logController: new LogController({ disableRequestLogging: true }),
		requestIdHeader: false,
		genReqId: (raw) => requestIdOf(raw as Parameters<typeof requestIdOf>[0]),
		forceCloseConnections: "idle",
		clientErrorHandler: answerMalformed,
		// Fastify calls this for an address that it cannot read, before it looks for a route.
		frameworkErrors: answerError,
		serverFactory: (handler) => makeServer(parts, handler),
		// Fastify would load its compilers of schemas, which are a tenth of all modules.
		schemaController: {
			compilersFactory: {
				buildValidator: noSchemas,
				buildSerializer: noSchemas,
			},
		},
	});

	const { tracing } = parts;
	if (tracing) {
		app.addHook("preValidation", (request, _reply, done) =>
			tracing.resume(request.raw, done),
		);
	}
	// The addresses of routes are compared, because a client may write an address in several ways.
	app.addHook("onRequest", async ({ routeOptions }) => {
		if (routeOptions.url?.startsWith("/api/")) parts.maintenance.refuse();
	});
	app.addHook("onRequest", async ({ url }) => {
		const { waitingCount } = parts.pool;
		if (url.startsWith("/api/") && waitingCount > MAX_WAITING) {
			throw overloaded();
		}
	});
	const routes = addAdmission(app, {
		baseUrl: parts.services.baseUrl,
		allowedOrigins: parts.allowedOrigins,
		authenticate: makeAuthenticate(parts),
	});
	addBodyParsers(app, parts.addressOf);
	app.addHook("onSend", async (request, reply) => {
		addHeaders(request, reply, common);
		if (parts.isDraining()) reply.header("connection", "close");
	});
	app.setNotFoundHandler(() => {
		throw nothingHere();
	});
	app.setErrorHandler(answerError);
	addHealth(
		app,
		parts.healthPool,
		parts.isDraining,
		instanceOf(parts.account.secret),
	);
	addOpenapi(
		app,
		parts.catalogue,
		parts.services.baseUrl,
		parts.allowedOrigins,
	);
	addConsole(app, parts);
	addOauthConsent(app, parts.oauthConsent);
	const { webConsole } = parts;
	addAgentPackages(
		app,
		parts.addressOf,
		parts.agentPackages,
		typeof webConsole === "string" ? undefined : webConsole.agent,
	);
	addConsoleFiles(app, webConsole, parts.identity.prepare);
	return { server: app, routes };
}

function noSchemas(): never {
	throw new Error(
		"Routes have no schemas of Fastify, because operations check their input.",
	);
}

/**
 * Adds parsers for JSON and CSV. JSON bodies are read by `readBody` within the route's limit.
 * Senders without a session share one budget of memory, and each network may take only a part of
 * it. Each signed-in user has a part of another budget. A CSV body is handed to its route as an
 * unread stream.
 */
function addBodyParsers(app: FastifyInstance, addressOf: AddressOf): void {
	const parseJson = app.getDefaultJsonParser("error", "error");
	app.removeAllContentTypeParsers();
	app.addContentTypeParser("application/json", (request, _payload, done) => {
		const { config, bodyLimit } = request.routeOptions;
		const maxBytes = bodyLimit ?? 0;
		const room =
			config.admits === "session"
				? USERS_BODIES.of(callerOf(request).userId ?? "")
				: STRANGERS_BODIES.of(networkOf(addressOf(request.raw) ?? ""));
		readBody(request.raw, maxBytes, room)
			.then((bytes) => {
				if (bytes === "aborted") return;
				if (typeof bytes === "string") {
					return done(unreadBodyError(bytes, maxBytes));
				}
				const text = bytes.toString("utf8");
				requireLimitedShape(text);
				return parseJson(request, text, done);
			})
			.catch(done);
	});
	app.addContentTypeParser("text/csv", (_request, payload, done) =>
		done(null, payload),
	);
}

function makeServer(
	{ agentApi, toolServer, scim, observe, accessLog, tracing }: AppParts,
	handler: (
		request: Parameters<AgentApi["handle"]>[0],
		response: Parameters<AgentApi["handle"]>[1],
	) => void,
): Server {
	const answer: typeof handler = (request, response) => {
		noteResponse(request, response);
		observe?.(request, response);
		accessLog?.(request, response);
		const { host } = request.headers;
		if (host === undefined && request.httpVersion === "1.1") {
			return answerMissingHost(response);
		}
		if (agentApi.handle(request, response)) return;
		if (scim.handle(request, response)) return;
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
	// Node would answer 417 to an Expect header that it does not know. We answer the request instead.
	server.on("checkExpectation", (request, response) => {
		server.emit("request", request, response);
	});
	server.on("connect", answerConnect);
	return server;
}

/**
 * Adds the headers that all responses have. A header that the route has set itself stays unchanged.
 */
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

/**
 * Sends the response to an error. If the request's body was not read to its end, also closes the
 * connection.
 */
function sendError(
	outageLog: OutageLog,
	thrown: unknown,
	request: FastifyRequest,
	reply: FastifyReply,
	common: Readonly<Record<string, string>>,
): void {
	const error = toHttpError(thrown);
	if (error.status >= 500) {
		outageLog.note(thrown, { requestId: request.id }, "request failed");
	}
	if (error.code === "service_unavailable" || error instanceof InMaintenance) {
		reply.header("retry-after", String(RETRY_AFTER_SECONDS));
	}
	const { code, message, fields } = error;
	const body = { error: code, message, fields };
	addHeaders(request, reply, common);
	if (!request.raw.readableEnded && hasBody(request.raw)) {
		reply.hijack();
		const headers: Record<string, string> = {
			"content-type": "application/json; charset=utf-8",
			...(reply.getHeaders() as Record<string, string>),
		};
		const text = JSON.stringify(body);
		endEarly(request.raw, reply.raw, error.status, headers, text);
		return;
	}
	void reply.status(error.status).send(body);
}

/** Turns Fastify's own errors, such as an unreadable body or address, into a bad_request. */
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
			"the address and the body of the request must be complete and correctly encoded",
		);
	}
	return toAppError(thrown);
}
