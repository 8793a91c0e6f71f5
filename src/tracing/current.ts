import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** The span of the code that is running. It is always undefined while tracing is off. */
export const currentSpan = new AsyncLocalStorage<Span>();

/** Returns fields for a log line, so that people can find the trace of its request. */
export function traceFields(): { trace_id?: string; span_id?: string } {
	const context = currentSpan.getStore()?.spanContext();
	return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
