import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openTracing } from "../../src/tracing/open.ts";
import { readTracing } from "../../src/tracing/settings.ts";
import { type Started, startAssay } from "../support/program.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { startTools, type TestTools } from "../support/tools.ts";
import {
	openReceiver,
	type ReceivedSpan,
	type Receiver,
} from "../support/traces.ts";

const BASE_URL = "http://localhost:8080";
const CALLERS_TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLERS_SPAN = "b7ad6b7169203331";
/**
 * Milliseconds that are longer than any test, so that spans can only arrive because the service
 * stops.
 */
const NEVER_MS = String(3_600_000);

/** The users and devices of the database that all programs in this file use. */
let tools: TestTools;
/** A program that sends its spans immediately, and the receiver of these spans. */
let program: Started;
let receiver: Receiver;

beforeAll(async () => {
	tools = await startTools();
	receiver = await openReceiver();
	program = await startTraced(receiver, {
		OTEL_BSP_SCHEDULE_DELAY: "50",
		OTEL_SERVICE_NAME: "assay of Acme",
	});
});
afterAll(async () => {
	await program?.stop("SIGTERM");
	await receiver?.close();
	await tools?.close();
});

/** Starts the real program, which sends its traces to `to`. */
function startTraced(
	to: Receiver,
	settings: Record<string, string> = {},
	how?: { workers: number },
): Promise<Started> {
	return startAssay(
		{
			DATABASE_URL: tools.database.url,
			ASSAY_BASE_URL: BASE_URL,
			OTEL_EXPORTER_OTLP_ENDPOINT: to.url,
			OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
			OTEL_BSP_SCHEDULE_DELAY: NEVER_MS,
			...settings,
		},
		how,
	);
}

/** Opens a receiver that only the current test uses. */
async function openOwnReceiver(): Promise<Receiver> {
	const own = await openReceiver();
	onTestFinished(own.close);
	return own;
}

function post(
	path: string,
	body: unknown,
	headers: Record<string, string> = {},
	{ url }: { url: string } = program,
): Promise<Response> {
	return fetch(url + path, {
		method: "POST",
		body: typeof body === "string" ? body : JSON.stringify(body),
		headers: { "content-type": "application/json", ...headers },
	});
}

/** Waits for the span of the request with this id, which ends last, and returns all spans. */
async function spansUntil(requestId: string): Promise<ReceivedSpan[]> {
	const isIt = ({ attributes }: ReceivedSpan) =>
		attributes["assay.request_id"] === requestId;
	await expect.poll(() => receiver.spans.some(isIt)).toBe(true);
	return receiver.spans;
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

const childrenOf = (spans: ReceivedSpan[], parent: ReceivedSpan | undefined) =>
	spans.filter(
		({ parentSpanId, traceId }) =>
			parentSpanId === parent?.spanId && traceId === parent?.traceId,
	);

const named = (spans: ReceivedSpan[], name: string) => {
	const found = spans.filter((span) => span.name === name);
	expect(found, name).toHaveLength(1);
	return found[0] as ReceivedSpan;
};

test("a tool call has a span in the caller's trace with its operation and statements, but no data of records", async () => {
	const answer = await post(
		"/api/mcp/tools/addTask",
		{
			organization_id: tools.organizationId,
			name: "the content of a record",
		},
		{
			...bearer(tools.admin.token),
			"x-request-id": "from-the-proxy-17",
			traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01`,
		},
	);
	expect(answer.status).toBe(200);

	const spans = await spansUntil("from-the-proxy-17");
	const request = named(spans, "POST /api/mcp/tools/addTask");
	expect(request).toMatchObject({
		traceId: CALLERS_TRACE,
		parentSpanId: CALLERS_SPAN,
		kind: 2,
		attributes: {
			"http.request.method": "POST",
			"http.route": "/api/mcp/tools/addTask",
			"http.response.status_code": 200,
			"assay.request_id": "from-the-proxy-17",
		},
		service: { "service.name": "assay of Acme" },
	});
	const operation = named(childrenOf(spans, request), "addTask");
	const statements = childrenOf(spans, operation);
	expect(statements.map(({ name }) => name)).toEqual(
		expect.arrayContaining(["begin", "commit"]),
	);
	for (const statement of statements) {
		expect(statement.kind).toBe(3);
		expect(statement.attributes["db.system.name"]).toBe("postgresql");
		expect(statement.attributes["db.query.summary"]).toBe(statement.name);
	}
	expect(
		childrenOf(spans, named(childrenOf(spans, request), "batch api_tokens")),
	).toMatchObject([{ name: "authenticate_api_tokens", kind: 3 }]);
	for (const secret of [tools.admin.token, "content of a record", "Bearer"]) {
		expect(receiver.text()).not.toContain(secret);
	}
});

test("the spans of devices' requests lead to their batch, and the batch to its only statement", async () => {
	const devices = await tools.activateDevices(12);
	await Promise.all(
		devices.map(async ({ key, hardwareUuid }) => {
			const beat = heartbeatBody({ hardware_uuid: hardwareUuid });
			await post("/api/agent/v1/heartbeat", beat, bearer(key));
		}),
	);
	await post(
		"/api/agent/v1/postures",
		{ results: [postureResult()] },
		{ ...bearer(devices[0]?.key ?? ""), "x-request-id": "a-report" },
	);

	const spans = await spansUntil("a-report");
	const requests = spans.filter(
		({ name }) => name === "POST /api/agent/v1/heartbeat",
	);
	expect(requests).toHaveLength(12);
	const batches = spans.filter(({ name }) => name === "batch heartbeats");
	const reached = batches.flatMap((batch) => {
		named(childrenOf(spans, batch), "agent_store_heartbeats");
		const of = [batch.parentSpanId, ...batch.links];
		expect(of).toHaveLength(batch.attributes["assay.batch.size"] as number);
		return of;
	});
	const ids = requests.map(({ spanId }) => spanId);
	expect(reached.sort()).toEqual(ids.sort());
	// A request leads to its batch if the batch is in the same trace or is linked to the request.
	for (const request of requests) {
		const [batch] = batches.filter(
			({ spanId, parentSpanId }) =>
				parentSpanId === request.spanId || request.links.includes(spanId),
		);
		expect(batch).toBeDefined();
	}
	const posted = named(spans, "POST /api/agent/v1/postures");
	const stored = named(childrenOf(spans, posted), "batch postures");
	named(childrenOf(spans, stored), "agent_store_postures");
});

test("work that is done after the body was read belongs to its request, in sign-in as well", async () => {
	const answer = await post(
		"/api/auth/sign-in/email",
		{ email: "nobody@example.com", password: "not the password of anybody" },
		{ origin: BASE_URL, "x-request-id": "a-sign-in" },
	);
	expect(answer.status).toBe(401);
	const spans = await spansUntil("a-sign-in");
	const request = named(spans, "POST /api/auth/*");
	expect(childrenOf(spans, request).length).toBeGreaterThan(0);
});

test("secrets in an address are removed, and invented addresses do not become names of spans", async () => {
	await post(`/api/mcp/tools/${tools.admin.token}`, {});
	await post("/api/console/made-up-7", {}, { "x-request-id": "made-up" });
	const names = (await spansUntil("made-up")).map(({ name }) => name);
	expect(names).toContain("POST /api/mcp/tools/{name}");
	expect(names.filter((name) => name.includes("made-up"))).toEqual([]);
	expect(receiver.text()).not.toContain(tools.admin.token);
});

test("an error is marked in its span, and its log line names the trace and the request", async () => {
	await tools.database.owner.query("alter table tasks rename to tasks_away");
	const answer = await post(
		"/api/mcp/tools/addTask",
		{ organization_id: tools.organizationId, name: "A task" },
		{ ...bearer(tools.admin.token), "x-request-id": "to-be-found" },
	).finally(() =>
		tools.database.owner.query("alter table tasks_away rename to tasks"),
	);
	expect(answer.status).toBe(500);
	const spans = (await spansUntil("to-be-found")).filter(
		({ attributes }) => attributes["assay.request_id"] === "to-be-found",
	);
	const request = named(spans, "POST /api/mcp/tools/addTask");
	expect(request).toMatchObject({
		status: 2,
		attributes: { "http.response.status_code": 500, "error.type": "500" },
	});
	const lineOf = () =>
		program
			.stderr()
			.split("\n")
			.find((text) => text.includes("to-be-found"));
	await expect.poll(lineOf).toBeDefined();
	expect(JSON.parse(lineOf() ?? "")).toMatchObject({
		requestId: "to-be-found",
		trace_id: request.traceId,
		span_id: request.spanId,
	});
});

test("a service that stops sends the spans of each worker, and joins a caller's trace only if the operator wants it", async () => {
	const own = await openOwnReceiver();
	const several = await startTraced(
		own,
		{ OTEL_PROPAGATORS: "none" },
		{ workers: 2 },
	);
	for (let n = 0; n < 6; n++) {
		await post(
			"/api/agent/v1/unenroll",
			"",
			{
				// Each request opens a new connection, and the workers take the connections in turn.
				connection: "close",
				traceparent: `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01`,
			},
			several,
		);
	}
	expect(own.posts).toEqual([]);
	expect(await several.stop("SIGTERM")).toBe(0);
	expect(own.spans).toHaveLength(6);
	expect(own.posts).toHaveLength(2);
	for (const { traceId, parentSpanId } of own.spans) {
		expect(traceId).not.toBe(CALLERS_TRACE);
		expect(parentSpanId).toBeUndefined();
	}
});

test("by default traces are sent as protobuf, to /v1/traces, with the configured headers", async () => {
	const own = await openOwnReceiver();
	const plain = await startTraced(own, {
		OTEL_EXPORTER_OTLP_PROTOCOL: "",
		OTEL_EXPORTER_OTLP_HEADERS: "api-key=of-the-receiver",
	});
	await post("/api/agent/v1/unenroll", "", {}, plain);
	await plain.stop("SIGTERM");
	const [sent] = own.posts;
	expect(sent?.path).toBe("/v1/traces");
	expect(sent?.headers["content-type"]).toBe("application/x-protobuf");
	expect(sent?.headers["api-key"]).toBe("of-the-receiver");
	expect(own.text()).toContain("POST /api/agent/v1/unenroll");
});

test("an unreachable receiver affects no request and is logged", async () => {
	const alone = await startTraced(receiver, {
		OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
		OTEL_EXPORTER_OTLP_TIMEOUT: "500",
		OTEL_BSP_SCHEDULE_DELAY: "50",
	});
	for (let n = 0; n < 5; n++) {
		const token = bearer(tools.viewer.token);
		const path = "/api/mcp/tools/listOrganizations";
		expect((await post(path, {}, token, alone)).status).toBe(200);
	}
	await expect.poll(() => alone.stderr()).toContain("traces cannot be sent");
	expect(alone.stderr()).toContain('"to":"127.0.0.1:1"');
	expect(await alone.stop("SIGTERM")).toBe(0);
});

test.each([
	{},
	{ OTEL_SERVICE_NAME: "assay", OTEL_TRACES_SAMPLER: "always_on" },
	{ OTEL_EXPORTER_OTLP_ENDPOINT: "" },
	{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_TRACES_EXPORTER: "none" },
	{ OTEL_TRACES_EXPORTER: "otlp", OTEL_SDK_DISABLED: "TRUE" },
])("the settings %o turn tracing off", (env) => {
	expect(readTracing(env)).toBeUndefined();
});

test("unknown values do not stop the start, and the log says what the service does instead", () => {
	const settings = readTracing({
		OTEL_TRACES_EXPORTER: "zipkin",
		OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
		OTEL_TRACES_SAMPLER: "sometimes",
		OTEL_TRACES_SAMPLER_ARG: "2",
		OTEL_BSP_MAX_QUEUE_SIZE: "many",
	});
	expect(settings).toMatchObject({
		protocol: "http/protobuf",
		sampler: "parentbased_always_on",
		ratio: 1,
		batch: {},
	});
	expect(settings?.notices.map((notice) => notice.split(" ")[0])).toEqual([
		"OTEL_TRACES_EXPORTER",
		"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_TRACES_SAMPLER",
		"OTEL_TRACES_SAMPLER_ARG",
		"OTEL_BSP_MAX_QUEUE_SIZE",
	]);
});

test.each([
	{ OTEL_EXPORTER_OTLP_ENDPOINT: "not a url" },
	{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" },
	{
		OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318",
		OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "ftp://localhost/",
	},
])("with the settings %o nothing is traced, and one line of the log says so", async (env) => {
	const settings = readTracing(env);
	if (!settings) throw new Error("no traces were asked for");
	const lines: unknown[] = [];
	const log = pino(
		{ level: "debug" },
		{ write: (line: string) => lines.push(JSON.parse(line).msg) },
	);
	expect(await openTracing(settings, new Set(), log)).toBeUndefined();
	expect(lines).toEqual([
		expect.stringMatching(/^OTEL_EXPORTER_OTLP_\w+ must be an address /),
	]);
});
