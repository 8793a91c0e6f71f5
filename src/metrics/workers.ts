import { AggregatorRegistry, type Registry } from "prom-client";

/** Allows the parent process to read this worker's metrics. */
export function offerMetrics(registry: Registry): void {
	AggregatorRegistry.setRegistries([registry]);
	new AggregatorRegistry();
}

/**
 * Returns a function that reads the sum of all workers' metrics. It rejects if a worker does not
 * answer within 5 s.
 */
export function makeWorkersReader(): () => Promise<string> {
	const registry = new AggregatorRegistry();
	return () => registry.clusterMetrics();
}
