import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Histogram } from "../histogram.ts";
import type { OwnService } from "../own-service.ts";

const PORTION = 200;
const REQUESTS = 300;
/** Every slow connection sends a header byte once in this many requests. */
const DRIP_EVERY = 30;
/** Time by which the service must have given up clients that send a byte now and then. */
const PATIENCE_MS = 90_000;

export interface Idle {
	wanted: number;
	/** Connections open at once: half are silent, half send headers a byte at a time. */
	opened: number;
	/** Latencies of requests while they are open. */
	latencies: Histogram;
	refused: number;
	mib: number;
	/** Connections still open after more than a minute of header bytes. */
	left: number;
	leftAfterSeconds: number;
}

/**
 * Tests that the service answers while thousands of connections send nothing or little, and that it
 * gives those up.
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
	while (left.length > 0 && performance.now() - began < PATIENCE_MS) {
		drip(left);
		await sleep(500);
		left = left.filter((socket) => !socket.destroyed);
	}
	const leftAfterSeconds = (performance.now() - began) / 1000;
	for (const socket of left) socket.destroy();
	const met = { wanted, opened, latencies, refused, mib };
	return { ...met, left: left.length, leftAfterSeconds };
}

/** Every second of them is slow. */
function drip(sockets: Socket[]): void {
	for (const socket of sockets) if (slow.has(socket)) socket.write("o");
}

const slow = new WeakSet<Socket>();

/** Connections that say nothing, or begin a request. Gives those that are open. */
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
				// The service answers 408 and closes the connection in the end. Nothing else reads the answer.
				socket.resume();
				socket.on("error", () => resolve());
			});
		});
		await Promise.race([Promise.all(portion), sleep(10_000)]);
	}
	return open;
}
