import { once } from "node:events";
import {
	type AddressInfo,
	connect,
	createServer,
	type NetConnectOpts,
	type Socket,
} from "node:net";

/** A proxy whose network can fail. */
export interface FaultyDoor {
	port: number;
	/** Interrupts the network: from now on nothing passes, and no connection is closed. */
	freeze: () => void;
	/**
	 * Restores the network. With "late", the data that was held back arrives. With "forgotten",
	 * existing connections stay silent forever and only new ones pass, as with a firewall that lost
	 * its state.
	 */
	thaw: (how: "late" | "forgotten") => void;
	close: () => Promise<void>;
}

/**
 * Accepts TCP connections on a free port and forwards each to the first of `targets()` that accepts
 * it.
 */
export async function openDoor(
	targets: () => NetConnectOpts[],
): Promise<FaultyDoor> {
	const pairs = new Set<Pair>();
	let isFrozen = false;
	const server = createServer((inward) => {
		const pair = new Pair(inward, targets, () => pairs.delete(pair));
		pairs.add(pair);
		if (isFrozen) pair.hold();
		else pair.go();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		port: (server.address() as AddressInfo).port,
		freeze: () => {
			isFrozen = true;
			for (const pair of pairs) pair.hold();
		},
		thaw: (how) => {
			isFrozen = false;
			if (how === "late") for (const pair of pairs) pair.go();
		},
		close: async () => {
			const closed = once(server, "close");
			server.close();
			for (const pair of pairs) pair.destroy();
			await closed;
		},
	};
}

/** A connection to the proxy, and the connection from the proxy to its target. */
class Pair {
	readonly #inward: Socket;
	readonly #targets: () => NetConnectOpts[];
	#outward: Socket | undefined;

	constructor(
		inward: Socket,
		targets: () => NetConnectOpts[],
		gone: () => void,
	) {
		this.#inward = inward;
		this.#targets = targets;
		inward.setNoDelay(true);
		inward.on("error", () => {});
		inward.on("close", () => {
			gone();
			this.#outward?.destroy();
		});
	}

	hold(): void {
		for (const socket of [this.#inward, this.#outward]) {
			socket?.unpipe();
			socket?.pause();
		}
	}

	go(): void {
		if (this.#outward) this.#join(this.#outward);
		else this.#reach(this.#targets());
	}

	destroy(): void {
		this.#inward.destroy();
	}

	#join(outward: Socket): void {
		this.#inward.pipe(outward).pipe(this.#inward);
	}

	#reach([target, ...others]: NetConnectOpts[]): void {
		if (!target || this.#inward.destroyed) {
			this.#inward.destroy();
			return;
		}
		const outward = connect(target);
		let isOpen = false;
		outward.setNoDelay(true);
		outward.on("connect", () => {
			isOpen = true;
			this.#outward = outward;
			this.#join(outward);
		});
		outward.on("error", () => {
			if (!isOpen) this.#reach(others);
		});
		outward.on("close", () => {
			if (isOpen) this.#inward.destroy();
		});
	}
}
