import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await startService();
});
afterAll(() => assay.close());

/** Keeps the processor busy, as a process that has just started or shares a busy machine is. */
function spin(ms: number): void {
	const until = performance.now() + ms;
	while (performance.now() < until);
}

/** Returns the head of the answer on a socket. */
async function readHead(socket: Socket): Promise<string> {
	const [chunk] = (await once(socket, "data")) as [Buffer];
	return chunk.toString("latin1");
}

/**
 * Lets devices enroll whose requests are all ready in one turn of the event loop, on connections that
 * are open already. To read one takes the service `readingMs` of processor time. Their token is
 * malformed, so the service judges it with 401 and without the database. A slow database would also
 * lead to 503.
 */
async function enrollAtOnce(
	count: number,
	readingMs: number,
): Promise<{ judged: number; refused: string[] }> {
	const { hostname, port } = new URL(assay.service.url);
	const sockets = await Promise.all(
		Array.from({ length: count }, async () => {
			const socket = connect({ host: hostname, port: Number(port) });
			await once(socket, "connect");
			return socket;
		}),
	);
	const body = JSON.stringify({ token: "malformed" });
	const request = [
		"POST /api/agent/v1/enroll HTTP/1.1",
		`host: ${hostname}:${port}`,
		"content-type: application/json",
		`content-length: ${body.length}`,
		"",
		body,
	].join("\r\n");
	// An answer on each connection shows that the service has accepted it.
	const probes = sockets.map(readHead);
	for (const socket of sockets) {
		socket.write("GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n");
	}
	await Promise.all(probes);
	const busy = () => spin(readingMs);
	subscribe("http.server.request.start", busy);
	const answers = sockets.map(readHead);
	for (const socket of sockets) socket.write(request);
	const heads = await Promise.all(answers);
	unsubscribe("http.server.request.start", busy);
	for (const socket of sockets) socket.destroy();
	return {
		judged: heads.filter((head) => head.startsWith("HTTP/1.1 401 ")).length,
		refused: heads.filter((head) => head.startsWith("HTTP/1.1 503 ")),
	};
}

test("of forty laptops that enroll in the same moment, none is turned away because the machine is slow to read their requests", async () => {
	expect(await enrollAtOnce(40, 6)).toEqual({ judged: 40, refused: [] });
});

test("of many more, some get 503 with Retry-After once reading has taken too long", async () => {
	const { judged, refused } = await enrollAtOnce(300, 2);
	expect(judged + refused.length).toBe(300);
	expect(judged).toBeGreaterThan(0);
	expect(refused.length).toBeGreaterThan(0);
	for (const head of refused) expect(head).toMatch(/^retry-after: \d+\r$/m);
});
