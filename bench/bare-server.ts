import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";

/**
 * The simplest possible server of this API. `node:http` reads the body, the server parses it and
 * sends the same bytes as the service. Its rate is the highest that the service could reach on this
 * machine beside this load generator.
 *
 * It runs as a child process, sends its port over IPC and ends with its parent.
 */
const HEADERS = {
	"x-request-id": "6f0d3c0e-6b0f-4f5e-9a53-0d0a4a8c4f11",
	"cache-control": "no-store",
	"x-content-type-options": "nosniff",
};
const JSON_TYPE = "application/json; charset=utf-8";
const HEARTBEAT = JSON.stringify({
	device_id: "A".repeat(32),
	heartbeat_interval_seconds: DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	posture_interval_seconds: DEFAULT_POSTURE_INTERVAL_SECONDS,
	server_time: "2026-03-31T08:00:00Z",
});

const server = createServer((request, response) => {
	const chunks: Buffer[] = [];
	request.on("data", (chunk: Buffer) => chunks.push(chunk));
	request.on("end", () => {
		const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
		if (Array.isArray(body.results)) {
			response.writeHead(204, HEADERS).end();
		} else {
			response.writeHead(200, {
				...HEADERS,
				"content-type": JSON_TYPE,
				"content-length": HEARTBEAT.length,
			});
			response.end(HEARTBEAT);
		}
	});
});
server.keepAliveTimeout = 75_000;
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.send?.((server.address() as AddressInfo).port);
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
