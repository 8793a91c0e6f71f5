import cluster from "node:cluster";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Metrics, MetricsParts } from "./metrics.ts";

export interface OpenMetrics {
	/** Address of the metrics. Undefined in a worker. */
	url?: string;
	observe?: Metrics["observe"];
	countIgnoredAddress?: Metrics["countIgnoredAddress"];
	close: () => Promise<void>;
}

/**
 * Serves the metrics of this process at `config.metricsPort`. A worker does not serve its metrics,
 * but passes them to its parent process, which serves the sum of all workers. The code for metrics
 * is loaded only when it is needed.
 */
export async function openMetrics(
	config: Config,
	log: Logger,
	parts: MetricsParts,
): Promise<OpenMetrics> {
	const { makeMetrics } = await import("./metrics.ts");
	const { registry, ...counting } = makeMetrics(parts);
	if (cluster.isWorker) {
		const { offerMetrics } = await import("./workers.ts");
		offerMetrics(registry);
		return { ...counting, close: async () => {} };
	}
	const listening = await listen(config, log, () => registry.metrics());
	return { ...counting, ...listening };
}

/** Serves the sum of all workers' metrics. The parent process calls this. */
export async function openWorkersMetrics(
	config: Config,
	log: Logger,
): Promise<OpenMetrics> {
	const { makeWorkersReader } = await import("./workers.ts");
	return listen(config, log, makeWorkersReader());
}

async function listen(
	{ metricsHost: host, metricsPort = 0 }: Config,
	log: Logger,
	read: () => Promise<string>,
): Promise<OpenMetrics> {
	const { openMetricsEndpoint } = await import("./endpoint.ts");
	const { port, close } = await openMetricsEndpoint(
		{ host, port: metricsPort },
		log,
		read,
	);
	const name = host.includes(":") ? `[${host}]` : host;
	return { url: `http://${name}:${port}/metrics`, close };
}
