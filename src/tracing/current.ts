import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** The span of the code that runs now. It is always empty while there are no traces. */
export const currentSpan = new AsyncLocalStorage<Span>();

/** Returns the fields with which a log line leads to the trace of its request. */
export function traceFields(): { trace_id?: string; span_id?: string } {
	const context = currentSpan.getStore()?.spanContext();
	return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
