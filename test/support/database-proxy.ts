import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy between a service and its database. A test can cut its connections. */
export interface DatabaseProxy {
	url: string;
	/** Returns the number of bytes that were sent to the database. They are its queries. */
	bytesSent: () => number;
	/** Returns the number of connections that were ever made. */
	connections: () => number;
	/**
	 * Cuts all connections, also those that hang, and refuses new ones, as if the database's machine had
	 * disappeared.
	 */
	cut: () => Promise<void>;
	restore: () => Promise<void>;
	/** Keeps all connections and passes nothing on, as if the database hung. */
	hang: () => void;
	/** Keeps all connections, and lets new ones hang, as if only the postmaster hung. */
	hangNew: () => void;
}

export async function openDatabaseProxy(
	databaseUrl: string,
): Promise<DatabaseProxy> {
	const target = new URL(databaseUrl);
	const port = target.port || "5432";
	const folder = target.searchParams.get("host");
	const open = (): Socket =>
		folder
			? connect(`${folder}/.s.PGSQL.${port}`)
			: connect(Number(port), target.hostname);

	const sockets = new Set<Socket>();
	let sent = 0;
	let made = 0;
	let isHanging = false;
	const server = createServer((inward) => {
		made++;
		const outward = open();
		inward.on("data", (chunk: Buffer) => {
			sent += chunk.length;
		});
		if (!isHanging) inward.pipe(outward).pipe(inward);
		for (const [socket, other] of [
			[inward, outward],
			[outward, inward],
		] as const) {
			sockets.add(socket);
			socket.on("error", () => {});
			socket.on("close", () => {
				sockets.delete(socket);
				other.destroy();
			});
		}
	});
	// A proxy that a failed test has left open must not keep the run alive.
	server.unref();
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const own = (server.address() as AddressInfo).port;

	const url = new URL(databaseUrl);
	url.hostname = "127.0.0.1";
	url.port = String(own);
	url.searchParams.delete("host");
	return {
		url: url.href,
		bytesSent: () => sent,
		connections: () => made,
		cut: async () => {
			const closed = once(server, "close");
			server.close();
			for (const socket of sockets) socket.destroy();
			await closed;
		},
		hang: () => {
			isHanging = true;
			for (const socket of sockets) {
				socket.unpipe();
				socket.pause();
			}
		},
		hangNew: () => {
			isHanging = true;
		},
		restore: async () => {
			isHanging = false;
			server.listen(own, "127.0.0.1");
			await once(server, "listening");
		},
	};
}
