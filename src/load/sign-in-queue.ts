import { isIPv6 } from "node:net";
import { overloaded } from "../errors.ts";
import { refuseFullHashing } from "../sign-in/password-hash.ts";
import { FairShares } from "./fair-shares.ts";

/** Limits of one client network, or one known browser. Those that wait take nothing from others. */
const OF_PLACE = {
	running: 2,
	waiting: 30,
	maxWaitMs: 8_000,
	name: "sign-ins from your address",
};
/**
 * Most sign-ins at once from networks where nobody has signed in yet: less than half of the
 * passwords that may wait to be hashed.
 */
const MAX_STRANGERS = 24;
const MAX_KNOWN = 10_000;

/**
 * Gives turns to sign-ins, before it is known who asks. Each costs a third of a second of a
 * processor. Each network has its share, and networks from which somebody has signed in since the
 * start keep places that no crowd of strangers can take. A browser that has signed in before has a
 * share of its own, wherever it is. Who is turned away depends on the place and the crowd alone,
 * never on whether there is such a user.
 */
export class SignInTurns {
	readonly #ofPlace = new FairShares(OF_PLACE);
	/** Networks from which somebody has signed in, the one used longest ago first. */
	readonly #known = new Set<string>();
	#strangers = 0;

	/**
	 * Runs `signIn` when it is its turn. Throws service_unavailable, before anything is asked of the
	 * database, when there are too many.
	 */
	run(
		address: string,
		browser: string | undefined,
		signIn: () => Promise<Response>,
	): Promise<Response> {
		const network = networkOf(address);
		return this.#ofPlace.run(browser ?? network, async () => {
			refuseFullHashing();
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

/** Returns the address, or for IPv6 the 64 bits that one subscriber has at least. */
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
	return `${known.map((group) => group.toString(16)).join(":")}::/64`;
}

function countOf(groups: string): number {
	return groups.split(":").filter(Boolean).length;
}
