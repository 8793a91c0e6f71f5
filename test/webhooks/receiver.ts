import { once } from "node:events";
import {
	createServer,
	type IncomingHttpHeaders,
	type IncomingMessage,
	type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
	headers: IncomingHttpHeaders;
	body: string;
}

/** How a receiver answers. */
type Behavior = (response: ServerResponse, request: IncomingMessage) => void;

export const accept: Behavior = (response) => response.end("thanks");

export interface Receiver {
	/** How the receiver answers from now on. At first it accepts everything. */
	behave: Behavior;
	/** Requests that have arrived, oldest first. */
	received: Received[];
	/** Listens on this machine. Returns the receiver's address. */
	listen: () => Promise<string>;
	/** Forgets what has arrived, and accepts everything again. */
	reset: () => void;
	/** Closes all connections. */
	hangUp: () => void;
	close: () => void;
}

/** Makes a program that webhooks are delivered to. */
export function makeReceiver(): Receiver {
	const server = createServer(async (request, response) => {
		request.on("error", () => {});
		let body = "";
		for await (const chunk of request) body += chunk;
		receiver.received.push({ headers: request.headers, body });
		receiver.behave(response, request);
	});
	const receiver: Receiver = {
		behave: accept,
		received: [],
		listen: async () => {
			server.listen(0, "127.0.0.1");
			await once(server, "listening");
			return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
		},
		reset: () => {
			receiver.behave = accept;
			receiver.received.length = 0;
		},
		hangUp: () => server.closeAllConnections(),
		close: () => {
			server.closeAllConnections();
			server.close();
		},
	};
	return receiver;
}
