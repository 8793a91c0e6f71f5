import type { IncomingMessage, ServerResponse } from "node:http";
import {
	type Attributes,
	type Context,
	type Link,
	ROOT_CONTEXT,
	type Span,
	SpanKind,
	SpanStatusCode,
	trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { Pool } from "pg";
import { requestIdOf } from "../http/request-id.ts";
import { redact } from "../log.ts";
import { routeOf } from "../metrics/route.ts";
import { VERSION } from "../version.ts";
import {
	type BatchWork,
	batchWork,
	itemQueued,
	type OperationWork,
	operationWork,
} from "./channels.ts";
import { currentSpan } from "./current.ts";
import { traceQueries } from "./database.ts";
import { openExport } from "./export.ts";
import type { TracingSettings } from "./settings.ts";

export type StartSpan = (
	name: string,
	kind: SpanKind,
	attributes: Attributes,
	links?: Link[],
) => Span;

export interface Tracing {
	/** Runs `answer`, which answers a request, within a new span. */
	request(
		request: IncomingMessage,
		response: ServerResponse,
		answer: () => void,
	): void;
	/**
	 * Runs `work` within the span of a request. This is needed after the body was read, because
	 * reading leaves the span.
	 */
	resume(request: IncomingMessage, work: () => void): void;
	watch(pools: Pool[]): void;
	/** Sends the remaining spans. This takes a few seconds at most. */
	close(): Promise<void>;
}

const MAX_PATH = 200;
const METHODS = new Set("GET HEAD POST PUT PATCH DELETE OPTIONS".split(" "));

/**
 * Makes the traces of the service. Each request has a span. It contains a span for the operation,
 * or for the batch that includes the request, and that span contains one for each statement. Spans
 * contain times, names from the program's own text, and request ids. They never contain the content
 * of a record, the values of a statement or a secret.
 */
export function makeTracing(
	settings: TracingSettings,
	operations: ReadonlySet<string>,
	reportTrouble: (message: string) => void,
): Tracing {
	const exporting = openExport(settings, reportTrouble);
	const tracer = exporting.provider.getTracer("assay", VERSION);
	const propagator = new W3CTraceContextPropagator();

	const startSpan: StartSpan = (name, kind, attributes, links = []) => {
		const parent = currentSpan.getStore();
		const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
		return tracer.startSpan(name, { kind, attributes, links }, context);
	};
	const stopListening = listen(startSpan);
	const spans = new WeakMap<IncomingMessage, Span>();

	const callerOf = (request: IncomingMessage): Context =>
		settings.believesCallers
			? propagator.extract(ROOT_CONTEXT, request.headers, {
					get: (headers, name) => headers[name],
					keys: (headers) => Object.keys(headers),
				})
			: ROOT_CONTEXT;

	return {
		request(request, response, answer) {
			const { door, route } = routeOf(request.url ?? "", operations);
			// Load balancers send health checks every few seconds, and their traces would be of no use.
			if (door === "health") return answer();
			const requestId = requestIdOf(request);
			// Without this header, the door would make another id.
			request.headers["x-request-id"] = requestId;
			const method = METHODS.has(request.method ?? "")
				? (request.method as string)
				: "_OTHER";
			const path = pathOf(request, door, route);
			const span = tracer.startSpan(
				`${method === "_OTHER" ? "HTTP" : method}${path ? ` ${path}` : ""}`,
				{
					kind: SpanKind.SERVER,
					attributes: {
						"http.request.method": method,
						"url.scheme": "http",
						"url.path": redact(request.url?.split("?", 1)[0] ?? "").slice(
							0,
							MAX_PATH,
						),
						...(path && { "http.route": path }),
						"network.protocol.version": request.httpVersion,
						"assay.request_id": requestId,
					},
				},
				callerOf(request),
			);
			spans.set(request, span);
			response.once("close", () => endRequest(span, response));
			currentSpan.run(span, answer);
		},
		resume(request, work) {
			const span = spans.get(request);
			if (span) currentSpan.run(span, work);
			else work();
		},
		watch(pools) {
			for (const pool of pools) traceQueries(pool, startSpan);
		},
		async close() {
			stopListening();
			await exporting.close();
		},
	};
}

function endRequest(span: Span, response: ServerResponse): void {
	if (!response.writableFinished) {
		span.setAttribute("error.type", "caller_left");
	} else {
		span.setAttribute("http.response.status_code", response.statusCode);
		if (response.statusCode >= 500) {
			span.setAttribute("error.type", String(response.statusCode));
			span.setStatus({ code: SpanStatusCode.ERROR });
		}
	}
	span.end();
}

const ROOTS: Readonly<Record<string, string>> = {
	agent: "/api/agent/v1/",
	tools: "/api/mcp/tools/",
	console: "/api/console/",
};

/**
 * Returns the request's route, which is one of a fixed list. Returns undefined for an address that
 * has no route.
 */
function pathOf(
	request: IncomingMessage,
	door: string,
	route: string,
): string | undefined {
	const root = ROOTS[door];
	if (root) return root + (route === "unknown" ? "{name}" : route);
	if (door === "mcp") return "/api/mcp/v1";
	return request.url?.startsWith("/api/auth/") ? "/api/auth/*" : undefined;
}

/**
 * Starts and ends spans for the work that the service's code reports. Returns a function that stops
 * this.
 */
function listen(startSpan: StartSpan): () => void {
	const requestOf = new WeakMap<object, Span>();
	const spanOf = new WeakMap<object, Span>();
	const queued = (item: unknown) => {
		const span = currentSpan.getStore();
		if (span?.isRecording()) requestOf.set(Object(item), span);
	};
	const ended = (work: OperationWork | BatchWork) => spanOf.get(work)?.end();
	const failed = (work: (OperationWork | BatchWork) & { error: unknown }) => {
		const { code, name } = Object(work.error);
		const span = spanOf.get(work);
		span?.setAttribute("error.type", String(code ?? name ?? "_OTHER"));
		span?.setStatus({ code: SpanStatusCode.ERROR });
	};

	const startOperation = (work: OperationWork) => {
		const span = startSpan(work.name, SpanKind.INTERNAL, {
			"assay.operation": work.name,
		});
		spanOf.set(work, span);
		return span;
	};
	/**
	 * Starts the span of a batch. The span belongs to the trace of the batch's first recorded request
	 * and has links to the other requests.
	 */
	const startBatch = (work: BatchWork) => {
		const requests = work.items.flatMap(
			(item) => requestOf.get(Object(item)) ?? [],
		);
		const [first, ...others] = requests;
		const make = () =>
			startSpan(
				`batch ${work.name}`,
				SpanKind.INTERNAL,
				{ "assay.batch": work.name, "assay.batch.size": work.items.length },
				others.map((span) => ({ context: span.spanContext() })),
			);
		// If no request of the batch is recorded, the span starts outside of any trace. The current
		// span would not fit, because it belongs to the request that happened to start the batch.
		const span = first ? currentSpan.run(first, make) : currentSpan.exit(make);
		for (const other of others) other.addLink({ context: span.spanContext() });
		spanOf.set(work, span);
		return span;
	};

	const handlers = { asyncEnd: ended, error: failed };
	operationWork.start.bindStore(currentSpan, startOperation);
	batchWork.start.bindStore(currentSpan, startBatch);
	operationWork.subscribe(handlers);
	batchWork.subscribe(handlers);
	itemQueued.subscribe(queued);
	return () => {
		operationWork.start.unbindStore(currentSpan);
		batchWork.start.unbindStore(currentSpan);
		operationWork.unsubscribe(handlers);
		batchWork.unsubscribe(handlers);
		itemQueued.unsubscribe(queued);
	};
}
