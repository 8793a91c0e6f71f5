import { channel, tracingChannel } from "node:diagnostics_channel";
import type { Span } from "@opentelemetry/api";

/**
 * What the service's code says of its work for traces. Each says it only while
 * somebody listens (`hasSubscribers`), so that without traces nothing is made or wrapped.
 */

/** A call of an operation, from its authorization to its commit. */
export interface OperationWork {
	name: string;
}
export const operationWork = tracingChannel<OperationWork, Span>(
	"assay:operation",
);

/** A batch on its way: what `itemQueued` was told of, now together. */
export interface BatchWork {
	name: string;
	items: unknown[];
}
export const batchWork = tracingChannel<BatchWork, Span>("assay:batch");

/** An item that waits for its batch: it is in `BatchWork.items` later. */
export const itemQueued = channel("assay:batch:item");
