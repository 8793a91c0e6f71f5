import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Histogram } from "../histogram.ts";
import type { OwnService } from "../own-service.ts";

const PORTION = 200;
const REQUESTS = 300;
/** While this many requests are sent, each slow connection sends one byte of a header. */
const DRIP_EVERY = 30;
/**
 * Milliseconds within which the service must have closed the connections of clients that only send
 * a byte now and then.
 */
const TIMEOUT_MS = 90_000;

export interface Idle {
	wanted: number;
	/**
	 * The number of open connections. Half of them are silent, and half send a header byte by byte.
	 */
	opened: number;
	/** The latencies of requests that are sent while these connections are open. */
	latencies: Histogram;
	refused: number;
	mib: number;
	/**
	 * The number of connections that are still open after they have sent header bytes for more than a
	 * minute.
	 */
	left: number;
	leftAfterSeconds: number;
}

/**
 * Tests that the service answers while thousands of connections send little or nothing, and that it
 * closes these connections in the end.
 */
export async function withIdle(
	service: OwnService,
	wanted: number,
): Promise<Idle> {
	const sockets = await openIdle(service.port, wanted);
	const opened = sockets.length;
	const latencies = new Histogram();
	let refused = 0;
	for (let i = 0; i < REQUESTS; i++) {
		if (i % DRIP_EVERY === 0) drip(sockets);
		const began = performance.now();
		const response = await fetch(
			`http://127.0.0.1:${service.port}/health/ready`,
		);
		await response.arrayBuffer();
		if (response.status !== 200) refused++;
		latencies.recordMs(performance.now() - began);
	}
	const mib = service.readMib();
	const began = performance.now();
	let left = sockets;
	while (left.length > 0 && performance.now() - began < TIMEOUT_MS) {
		drip(left);
		await sleep(500);
		left = left.filter((socket) => !socket.destroyed);
	}
	const leftAfterSeconds = (performance.now() - began) / 1000;
	for (const socket of left) socket.destroy();
	const met = { wanted, opened, latencies, refused, mib };
	return { ...met, left: left.length, leftAfterSeconds };
}

/** Sends one more byte on each slow connection. */
function drip(sockets: Socket[]): void {
	for (const socket of sockets) if (slow.has(socket)) socket.write("o");
}

const slow = new WeakSet<Socket>();

/**
 * Opens connections. Every second one begins a request, and the others send nothing. Returns those
 * that were accepted.
 */
async function openIdle(port: number, wanted: number): Promise<Socket[]> {
	const open: Socket[] = [];
	for (let i = 0; i < wanted; i += PORTION) {
		const length = Math.min(PORTION, wanted - i);
		const portion = Array.from({ length }, (_, j) => {
			return new Promise<void>((resolve) => {
				const socket = connect(port, "127.0.0.1", () => {
					open.push(socket);
					if (j % 2) {
						slow.add(socket);
						socket.write("POST /api/agent/v1/heartbeat HTTP/1.1\r\nHo");
					}
					resolve();
				});
				// In the end the service answers 408 and closes the connection. No other code reads this
				// answer.
				socket.resume();
				socket.on("error", () => resolve());
			});
		});
		await Promise.race([Promise.all(portion), sleep(10_000)]);
	}
	return open;
}
