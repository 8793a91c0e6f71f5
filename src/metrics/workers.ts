import { AggregatorRegistry, type Registry } from "prom-client";

/** Lets the process above ask this worker for its metrics. */
export function offerMetrics(registry: Registry): void {
	AggregatorRegistry.setRegistries([registry]);
	new AggregatorRegistry();
}

/** Reads the metrics of all workers, added up. Rejects when one does not answer within 5 s. */
export function makeWorkersReader(): () => Promise<string> {
	const registry = new AggregatorRegistry();
	return () => registry.clusterMetrics();
}
