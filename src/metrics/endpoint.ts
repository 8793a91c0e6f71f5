import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { explainListen } from "../http/listen-error.ts";

export interface MetricsEndpoint {
	port: number;
	close: () => Promise<void>;
}

/**
 * Serves `GET /metrics` on a port of its own, so that the public port does not reveal how the
 * service is doing. `read` returns the metrics as text. Rejects with an AppError when the port
 * cannot be opened.
 */
export async function openMetricsEndpoint(
	{ host, port }: { host: string; port: number },
	log: Logger,
	read: () => Promise<string>,
): Promise<MetricsEndpoint> {
	const server = createServer((request, response) => {
		if (request.url?.split("?")[0] !== "/metrics") {
			response.writeHead(404).end("The metrics are at /metrics.\n");
			return;
		}
		if (request.method !== "GET" && request.method !== "HEAD") {
			response.writeHead(405, { allow: "GET, HEAD" }).end();
			return;
		}
		read().then(
			(text) =>
				response
					.writeHead(200, { "content-type": Registry.PROMETHEUS_CONTENT_TYPE })
					.end(text),
			(error) => {
				log.error({ err: error }, "the metrics could not be read");
				response.writeHead(500).end();
			},
		);
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", (error) =>
			reject(
				explainListen(
					error,
					`${host}:${port}`,
					"ASSAY_METRICS_HOST",
					"ASSAY_METRICS_PORT",
				),
			),
		);
		server.listen(port, host, resolve);
	});
	return {
		port: (server.address() as AddressInfo).port,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}
