import { isIPv6 } from "node:net";
import { overloaded } from "../errors.ts";
import { rejectFullHashing } from "../sign-in/password-hash.ts";
import { FairShares } from "./fair-shares.ts";

/**
 * Limits for one client network or one known browser. While a sign-in waits for its turn here, it
 * does not take a place from others.
 */
const LIMITS = {
	running: 2,
	waiting: 30,
	maxWaitMs: 8_000,
	name: "sign-ins from your address",
};
/**
 * Largest number of simultaneous sign-ins from networks where nobody has signed in yet. It is less
 * than half the number of passwords that may wait to be hashed.
 */
const MAX_STRANGERS = 24;
const MAX_KNOWN = 10_000;

/**
 * Decides when each sign-in runs, before the service knows who signs in. A sign-in takes a third of
 * a second of processor time.
 *
 * Each network has its own share. Networks from which somebody has signed in since the service
 * started have places that no crowd of strangers can take. A browser that has signed in before has
 * a share of its own, in every network.
 *
 * Only the network, the browser and the number of other sign-ins decide who is turned away. The
 * decision never depends on whether the user exists.
 */
export class SignInTurns {
	readonly #shares = new FairShares(LIMITS);
	/**
	 * Networks from which somebody has signed in. The network that was used longest ago comes first.
	 */
	readonly #known = new Set<string>();
	#strangers = 0;

	/**
	 * Runs `signIn` when its turn comes. If there are too many sign-ins, throws service_unavailable
	 * without querying the database.
	 */
	run(
		address: string,
		browser: string | undefined,
		signIn: () => Promise<Response>,
	): Promise<Response> {
		const network = networkOf(address);
		return this.#shares.run(browser ?? network, async () => {
			rejectFullHashing();
			const isStranger = browser === undefined && !this.#known.has(network);
			if (isStranger && this.#strangers >= MAX_STRANGERS) throw overloaded();
			if (isStranger) this.#strangers++;
			try {
				const response = await signIn();
				if (response.ok) this.#remember(network);
				return response;
			} finally {
				if (isStranger) this.#strangers--;
			}
		});
	}

	#remember(network: string): void {
		this.#known.delete(network);
		this.#known.add(network);
		const [oldest] = this.#known;
		if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest as string);
	}
}

/**
 * Returns the network of an address: an IPv4 address itself, or the first 56 bits of an IPv6
 * address. An IPv6 subscriber has at least a /64, and often all 256 of a /56.
 */
export function networkOf(address: string): string {
	if (!isIPv6(address)) return address;
	const [start = "", end] = address.split("::");
	const groups = start.split(":").filter(Boolean);
	const missing = end === undefined ? 0 : 8 - groups.length - countOf(end);
	const all = [
		...groups,
		...Array(missing).fill("0"),
		...String(end).split(":"),
	];
	const known = all.slice(0, 4).map((group) => Number.parseInt(group, 16));
	const subscriber = (known[3] as number) & 0xff00;
	return `${known
		.with(3, subscriber)
		.map((group) => group.toString(16))
		.join(":")}::/56`;
}

function countOf(groups: string): number {
	return groups.split(":").filter(Boolean).length;
}
