import type { Answer } from "../answer.ts";
import type { Packet } from "./packet.ts";

/** What happens to a packet: the filter lets it in or keeps it out. Undefined if unknown. */
export type Verdict = "open" | "closed" | undefined;

export type Condition = (packet: Packet) => Answer;

export type Action =
	| { kind: "accept" | "drop" | "return" }
	/** The rule hands the packet to something that the agent cannot judge, such as a program. */
	| { kind: "unclear" }
	| { kind: "jump" | "goto"; chain: string };

export interface Rule {
	matches: Condition;
	action: Action;
}

/** A chain that the kernel itself sends incoming packets through. */
export interface BaseChain {
	chain: string;
	policy: "accept" | "drop";
	/** The only interface whose packets come here. Undefined if all do. */
	device?: string | undefined;
}

export interface Ruleset {
	chains: Map<string, Rule[]>;
	bases: BaseChain[];
}

/**
 * Returns the verdict on a packet. The packet goes through every base chain of every ruleset, so one
 * that drops it is enough to keep it out. A ruleset that could not be read is undefined.
 */
export function judgePacket(
	rulesets: readonly (Ruleset | undefined)[],
	packet: Packet,
): Verdict {
	const verdicts = rulesets.flatMap((ruleset): Verdict[] =>
		ruleset
			? ruleset.bases
					.filter(
						({ device }) => device === undefined || device === packet.interface,
					)
					.map((base) => followBase(ruleset, base, packet))
			: [undefined],
	);
	if (verdicts.includes("closed")) return "closed";
	return verdicts.includes(undefined) ? undefined : "open";
}

/** Returns the worst verdict on the packets: one that gets in makes the filter open. */
export function judgePackets(
	rulesets: readonly (Ruleset | undefined)[],
	packets: readonly Packet[],
): Verdict {
	return worstOf(packets.map((packet) => judgePacket(rulesets, packet)));
}

export function worstOf(verdicts: readonly Verdict[]): Verdict {
	if (verdicts.includes("open")) return "open";
	return verdicts.includes(undefined) ? undefined : "closed";
}

type Outcome = "accept" | "drop" | "unclear";

function followBase(
	{ chains }: Ruleset,
	{ chain, policy }: BaseChain,
	packet: Packet,
): Verdict {
	const outcomes = new Set<Outcome>();
	const walk = { chains, packet, outcomes, steps: 0 };
	if (follow(walk, chain, 0) !== "decided") outcomes.add(policy);
	if (outcomes.size !== 1 || outcomes.has("unclear")) return undefined;
	return outcomes.has("drop") ? "closed" : "open";
}

interface Walk {
	chains: Map<string, Rule[]>;
	packet: Packet;
	/** Every outcome that the packet may have. */
	outcomes: Set<Outcome>;
	steps: number;
}

const MAX_DEPTH = 16;
/** Largest number of rules that one packet may meet. No sensible ruleset comes near it. */
const MAX_STEPS = 100_000;

/**
 * Follows a packet through a chain as the kernel does. If a rule's condition cannot be decided, the
 * packet goes both ways. Returns `decided` if the packet never leaves the chain, and `returns` if
 * it does or may do so.
 */
function follow(walk: Walk, name: string, depth: number): string {
	const { chains, packet, outcomes } = walk;
	const rules = chains.get(name);
	if (!rules || depth > MAX_DEPTH) {
		outcomes.add("unclear");
		return "decided";
	}
	let mayReturn = false;
	const decided = () => (mayReturn ? "returns" : "decided");
	for (const { matches, action } of rules) {
		walk.steps += 1;
		if (walk.steps > MAX_STEPS) {
			outcomes.add("unclear");
			return "decided";
		}
		const match = matches(packet);
		if (match === false) continue;
		switch (action.kind) {
			case "accept":
			case "drop":
			case "unclear":
				outcomes.add(action.kind);
				if (match) return decided();
				break;
			case "return":
				if (match) return "returns";
				mayReturn = true;
				break;
			case "jump":
				if (follow(walk, action.chain, depth + 1) === "decided" && match) {
					return decided();
				}
				break;
			case "goto": {
				// A packet that leaves the other chain goes back to where this chain was called.
				const left = follow(walk, action.chain, depth + 1) !== "decided";
				if (match) return left ? "returns" : decided();
				mayReturn ||= left;
				break;
			}
		}
	}
	return "returns";
}
