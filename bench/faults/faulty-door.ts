import { once } from "node:events";
import {
	type AddressInfo,
	connect,
	createServer,
	type NetConnectOpts,
	type Socket,
} from "node:net";

/** A proxy that can lose its network. */
export interface FaultyDoor {
	port: number;
	/** From now on nothing passes, silently. */
	freeze: () => void;
	/**
	 * Brings the network back. "late": the data held back arrives. "forgotten": earlier connections
	 * stay silent for ever, as behind a firewall that lost its state, and new ones pass.
	 */
	thaw: (how: "late" | "forgotten") => void;
	close: () => Promise<void>;
}

/** Forwards TCP from a port of its own to the first of `targets()` that accepts the connection. */
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

/** A connection to the door and the one that continues it. */
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
