import { isIPv6 } from "node:net";
import { overloaded } from "../errors.ts";
import { refuseFullHashing } from "../sign-in/password-hash.ts";
import { FairShares } from "./fair-shares.ts";

/** Of one client address; those that wait have taken nothing yet from anybody else. */
const OF_ADDRESS = {
	running: 2,
	waiting: 30,
	maxWaitMs: 8_000,
	name: "sign-ins from your address",
};
/** Of all addresses from which nobody has signed in yet: less than half of the passwords that may wait. */
const MAX_STRANGERS = 24;
const MAX_KNOWN = 10_000;

/**
 * Turns at signing in, for which nobody has shown yet who it is, and each of which costs a third of
 * a second of a processor. Each address has its share, and addresses from which somebody has signed in
 * since the start keep places that no crowd of strangers can take. Who is refused depends on the
 * address and the crowd alone, never on whether there is such a user.
 */
export class SignInTurns {
	readonly #ofAddress = new FairShares(OF_ADDRESS);
	/** The one used longest ago first. */
	readonly #known = new Set<string>();
	#strangers = 0;

	/** Throws service_unavailable, before anything is asked of the database, when there are too many. */
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

/** An address; of IPv6 the 64 bits that one subscriber has at least. */
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
