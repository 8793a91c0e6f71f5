import { once } from "node:events";
import {
	createServer,
	type IncomingHttpHeaders,
	type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { makeId, makeOrganizationId } from "../../src/id.ts";

export interface SeenRequest {
	route: string;
	headers: IncomingHttpHeaders;
	/** The parsed body. Undefined if the body was empty. */
	body: Record<string, unknown> | undefined;
}

export interface ScriptedService {
	url: string;
	deviceId: string;
	seen: SeenRequest[];
	/**
	 * Sets how requests are answered from now on. With undefined, each route gives its own answer
	 * again.
	 */
	answer: (how: Answerer) => void;
	/** Waits until `condition` holds for the requests seen so far. */
	until: (condition: (seen: SeenRequest[]) => boolean) => Promise<void>;
	/** Returns the number of results in each posture request, by the report's id. */
	reportIds: () => string[];
	close: () => Promise<void>;
}

/**
 * Answers the request. If it returns true, the service gives the answer of a healthy service
 * instead.
 */
export type Answerer = (
	request: SeenRequest,
	response: ServerResponse,
) => boolean;

/** Starts a service whose answers a test chooses, for answers that the real service never gives. */
export async function startScriptedService(
	intervals: { heartbeat?: number; posture?: number } = {},
): Promise<ScriptedService> {
	const deviceId = makeId(makeOrganizationId(), "device");
	const seen: SeenRequest[] = [];
	let answerer: Answerer = () => true;
	let wake = () => {};
	const server = createServer((incoming, response) => {
		void text(incoming).then((sent) => {
			const request: SeenRequest = {
				route: incoming.url?.replace("/api/agent/v1/", "") ?? "",
				headers: incoming.headers,
				body: sent === "" ? undefined : JSON.parse(sent),
			};
			seen.push(request);
			if (answerer(request, response)) answerAsHealthy(request, response);
			wake();
		});
	});
	const answerAsHealthy = (request: SeenRequest, response: ServerResponse) => {
		if (request.route === "enroll") {
			return respond(response, 200, { api_key: "asy_dev_key" });
		}
		if (request.route !== "heartbeat") return respond(response, 204);
		respond(response, 200, {
			device_id: deviceId,
			heartbeat_interval_seconds: intervals.heartbeat ?? 300,
			posture_interval_seconds: intervals.posture ?? 3600,
			server_time: new Date().toISOString(),
		});
	};
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const close = async () => {
		if (!server.listening) return;
		const closed = once(server, "close");
		server.close();
		server.closeAllConnections();
		await closed;
	};
	onTestFinished(close);
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		deviceId,
		seen,
		answer: (how) => {
			answerer = how;
		},
		until: async (condition) => {
			while (!condition(seen)) {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		},
		reportIds: () =>
			seen.flatMap(({ body }) => {
				const [first] = (body?.results ?? []) as { correlation_id: string }[];
				return first ? [first.correlation_id] : [];
			}),
		close,
	};
}

/** Sends an answer with a status and, if given, a JSON body. */
export function respond(
	response: ServerResponse,
	status: number,
	body?: object,
	headers: Record<string, string> = {},
): void {
	response.writeHead(status, {
		...(body ? { "content-type": "application/json" } : {}),
		...headers,
	});
	response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Sends an error of the Device Agent API. */
export function refuse(response: ServerResponse, status: 400 | 401): void {
	respond(response, status, {
		error: status === 400 ? "bad_request" : "unauthorized",
		message: status === 400 ? "results[0] is wrong" : "unknown device key",
	});
}
