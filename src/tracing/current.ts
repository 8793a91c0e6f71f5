import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** The span that what runs now belongs to. Nothing is ever in it while there are no traces. */
export const currentSpan = new AsyncLocalStorage<Span>();

/** What a line of the log says so that the trace of its request can be found. */
export function traceFields(): { trace_id?: string; span_id?: string } {
	const context = currentSpan.getStore()?.spanContext();
	return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
