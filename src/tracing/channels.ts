import { channel, tracingChannel } from "node:diagnostics_channel";
import type { Span } from "@opentelemetry/api";

/**
 * Channels on which the service's code reports its work for traces. The code publishes only if
 * somebody listens (`hasSubscribers`). Without traces, nothing is created or wrapped.
 */

/** One call of an operation, from checking its permission to the commit. */
export interface OperationWork {
	name: string;
}
export const operationWork = tracingChannel<OperationWork, Span>(
	"assay:operation",
);

/**
 * A batch while the database processes it. Its items are those that `itemQueued` announced before.
 */
export interface BatchWork {
	name: string;
	items: unknown[];
}
export const batchWork = tracingChannel<BatchWork, Span>("assay:batch");

/** Announces an item that waits for a batch. The item later appears in `BatchWork.items`. */
export const itemQueued = channel("assay:batch:item");
