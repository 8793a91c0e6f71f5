import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A span in the form in which the tests read it. */
export interface ReceivedSpan {
	traceId: string;
	spanId: string;
	parentSpanId: string | undefined;
	name: string;
	kind: number;
	attributes: Record<string, unknown>;
	/** The ids of the spans that are linked to this one. */
	links: string[];
	/** The status code. 2 means an error. */
	status: number | undefined;
	service: Record<string, unknown>;
}

export interface Receiver {
	/** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
	url: string;
	spans: ReceivedSpan[];
	/** The bodies and headers as they arrived. */
	posts: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
	/** Returns everything that arrived as text, to look for what must not be in it. */
	text: () => string;
	close: () => Promise<void>;
}

interface KeyValue {
	key: string;
	value: Record<string, unknown>;
}

/**
 * Starts a receiver of traces in JSON, such as OpenTelemetry's collector. It keeps everything that
 * arrives.
 */
export async function openReceiver(): Promise<Receiver> {
	const posts: Receiver["posts"] = [];
	const spans: ReceivedSpan[] = [];
	const server = createServer(async (request, response) => {
		const parts: Buffer[] = [];
		for await (const part of request) parts.push(part);
		const body = Buffer.concat(parts);
		posts.push({ path: request.url ?? "", headers: request.headers, body });
		const isJson = request.headers["content-type"] === "application/json";
		if (isJson) spans.push(...readSpans(body.toString("utf8")));
		response.setHeader("content-type", request.headers["content-type"] ?? "");
		response.end(isJson ? "{}" : "");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		spans,
		posts,
		text: () => posts.map(({ body }) => body.toString("utf8")).join("\n"),
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

function readSpans(text: string): ReceivedSpan[] {
	const { resourceSpans } = JSON.parse(text);
	const received: ReceivedSpan[] = [];
	for (const { resource, scopeSpans } of resourceSpans) {
		const service = readAttributes(resource.attributes);
		for (const { spans } of scopeSpans) {
			for (const span of spans) {
				received.push({
					traceId: span.traceId,
					spanId: span.spanId,
					parentSpanId: span.parentSpanId || undefined,
					name: span.name,
					kind: span.kind,
					attributes: readAttributes(span.attributes),
					links: (span.links ?? []).map((link: ReceivedSpan) => link.spanId),
					status: span.status?.code,
					service,
				});
			}
		}
	}
	return received;
}

function readAttributes(list: KeyValue[] = []): Record<string, unknown> {
	return Object.fromEntries(
		list.map(({ key, value }) => {
			const [found] = Object.values(value);
			return [key, "intValue" in value ? Number(found) : found];
		}),
	);
}
