import { channel, tracingChannel } from "node:diagnostics_channel";
import type { Span } from "@opentelemetry/api";

/**
 * Channels on which the service's code reports its work for traces. The code publishes only while
 * somebody listens (`hasSubscribers`), so without traces nothing is created or wrapped.
 */

/** A call of an operation, from its authorization to its commit. */
export interface OperationWork {
	name: string;
}
export const operationWork = tracingChannel<OperationWork, Span>(
	"assay:operation",
);

/** A batch on its way: the items that `itemQueued` announced, now together. */
export interface BatchWork {
	name: string;
	items: unknown[];
}
export const batchWork = tracingChannel<BatchWork, Span>("assay:batch");

/** Announces an item that waits for its batch; it appears in `BatchWork.items` later. */
export const itemQueued = channel("assay:batch:item");
