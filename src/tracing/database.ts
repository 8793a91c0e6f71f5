import { AsyncLocalStorage } from "node:async_hooks";
import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Pool, PoolClient } from "pg";
import { currentSpan } from "./current.ts";
import type { StartSpan } from "./tracing.ts";

type Query = (...args: unknown[]) => unknown;
type Callback = (...args: unknown[]) => unknown;

/**
 * Makes a span for every statement that a connection of `pool` runs for a traced request. The span
 * contains neither the text of the statement nor its values. It contains only a short name, and the
 * program's own text limits the number of such names.
 */
export function traceQueries(pool: Pool, startSpan: StartSpan): void {
	const traced = new WeakSet<PoolClient>();
	pool.on("acquire", (client) => {
		if (traced.has(client)) return;
		traced.add(client);
		traceClient(client, startSpan);
	});
	// A caller that waits for a connection gets it from another caller, while that other caller's
	// code runs. Binding the callback keeps the waiting caller's own span.
	const connect = pool.connect.bind(pool) as (callback?: Callback) => unknown;
	pool.connect = ((callback?: Callback) =>
		connect(callback && AsyncLocalStorage.bind(callback))) as Pool["connect"];
}

function traceClient(client: PoolClient, startSpan: StartSpan): void {
	const query = client.query.bind(client) as Query;
	const traced: Query = (...args) => {
		const parent = currentSpan.getStore();
		// Some work continues after the request, such as counting its use. That work does not belong to
		// the request.
		if (!parent?.isRecording()) return query(...args);
		const summary = summaryOf(args[0]);
		if (summary === undefined) return query(...args);
		const span = startSpan(summary, SpanKind.CLIENT, {
			"db.system.name": "postgresql",
			"db.query.summary": summary,
		});
		const last = args.at(-1);
		if (typeof last === "function") {
			args[args.length - 1] = (...answer: unknown[]) => {
				finish(span, answer[0]);
				return last(...answer);
			};
			return query(...args);
		}
		const answer = query(...args) as Promise<unknown>;
		answer.then(
			() => finish(span, undefined),
			(error: unknown) => finish(span, error),
		);
		return answer;
	};
	client.query = traced as PoolClient["query"];
}

/**
 * Records the result of a statement. An error is recorded by its SQLSTATE, because the text of an
 * error may contain a value of a record.
 */
function finish(span: Span, error: unknown): void {
	if (error) {
		const { code, name } = error as { code?: unknown; name?: unknown };
		if (typeof code === "string") {
			span.setAttribute("db.response.status_code", code);
		}
		span.setAttribute("error.type", String(code ?? name ?? "_OTHER"));
		span.setStatus({ code: SpanStatusCode.ERROR });
	}
	span.end();
}

const VERB = /^[\s(]*(\w+)/;
const TABLE = /\b(?:from|into|update)\s+(?:only\s+)?"?([a-z_][\w.]*)/i;

/**
 * Returns a short name of a query, such as "agent_store_heartbeats", "select risks" or "begin".
 * Returns undefined for a query without text, such as COPY.
 */
function summaryOf(query: unknown): string | undefined {
	const { name, text } = (
		typeof query === "string" ? { text: query } : query
	) as { name?: unknown; text?: unknown };
	if (typeof name === "string" && name !== "") return name;
	if (typeof text !== "string") return undefined;
	const verb = VERB.exec(text)?.[1]?.toLowerCase() ?? "query";
	// The text also sets the organization of the transaction, but "begin" is a sufficient name.
	if (verb === "begin") return verb;
	const table = TABLE.exec(text)?.[1];
	return table ? `${verb} ${table}` : verb;
}
