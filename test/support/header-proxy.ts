import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a proxy that adds an Authorization header, for a client without an option for one. The
 * proxy leaves Host and Origin unchanged.
 */
export async function startHeaderProxy(
	target: string,
	token: string,
): Promise<{ url: string; close: () => Promise<void> }> {
	const { hostname, port } = new URL(target);
	const server = createServer((incoming, outgoing) => {
		const { method, url: path, headers } = incoming;
		const forwarded = request(
			{
				hostname,
				port,
				method,
				path,
				headers: { ...headers, authorization: `Bearer ${token}` },
				setHost: false,
			},
			(answer) => {
				outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
				answer.pipe(outgoing);
			},
		);
		forwarded.on("error", () => outgoing.destroy());
		outgoing.on("close", () => forwarded.destroy());
		incoming.pipe(forwarded);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port: own } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${own}`,
		close: () =>
			new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}
