import { isIPv6 } from "node:net";
import { overloaded } from "../errors.ts";
import { refuseFullHashing } from "../sign-in/password-hash.ts";
import { FairShares } from "./fair-shares.ts";

/** Limits of one client address. Sign-ins that wait take nothing from others yet. */
const OF_ADDRESS = {
	running: 2,
	waiting: 30,
	maxWaitMs: 8_000,
	name: "sign-ins from your address",
};
/**
 * Limit for all addresses from which nobody has signed in yet: less than half of the passwords that
 * may wait.
 */
const MAX_STRANGERS = 24;
const MAX_KNOWN = 10_000;

/**
 * Gives turns at signing in. A sign-in comes from somebody unknown and costs a third of a second of
 * a processor. Each address has its share, and addresses from which somebody has signed in since
 * the start keep places that no crowd of strangers can take. Only the address and the crowd decide
 * who gets 503, never whether there is such a user.
 */
export class SignInTurns {
	readonly #ofAddress = new FairShares(OF_ADDRESS);
	/** Known addresses, the one used longest ago first. */
	readonly #known = new Set<string>();
	#strangers = 0;

	/**
	 * Runs `signIn` in its turn. Throws service_unavailable, before any query, if there are too many.
	 */
	run(address: string, signIn: () => Promise<Response>): Promise<Response> {
		const network = networkOf(address);
		return this.#ofAddress.run(network, async () => {
			refuseFullHashing();
			const isStranger = !this.#known.has(network);
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

/** Returns the address; for IPv6 its first 64 bits, which one subscriber has at least. */
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
