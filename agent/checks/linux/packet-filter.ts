/**
 * The fate of an incoming packet that no rule names. The packet is let in (`open`) or blocked
 * (`closed`). Undefined if this is not known.
 */
export type Verdict = "open" | "closed" | undefined;

interface Rule {
	/** False if the rule has a condition and therefore does not decide about every packet. */
	isForAll: boolean;
	/**
	 * `accept`, `drop`, `return`, `unclear`, or the name of another chain that the packet goes
	 * through.
	 */
	does: string;
	jumps: boolean;
}

export interface Chain {
	policy: string | undefined;
	rules: Rule[];
}

export type Chains = Map<string, Chain>;

/**
 * Follows a chain as the kernel does for a packet that matches no condition. Rules with a
 * condition, such as "on the loopback interface" or "to port 22", are skipped, because they decide
 * about only some packets.
 */
export function follow(chains: Chains, name: string): Verdict {
	const chain = chains.get(name);
	if (!chain) return undefined;
	const decided = decide(chains, name, 0);
	if (decided === "unclear") return undefined;
	if (decided === "accept") return "open";
	if (decided === "drop") return "closed";
	return chain.policy === "drop"
		? "closed"
		: chain.policy === "accept"
			? "open"
			: undefined;
}

function decide(
	chains: Chains,
	name: string,
	depth: number,
): "accept" | "drop" | "unclear" | undefined {
	if (depth > 16) return "unclear";
	for (const rule of chains.get(name)?.rules ?? []) {
		if (!rule.isForAll) continue;
		if (rule.does === "return") return undefined;
		if (rule.does === "accept" || rule.does === "drop") return rule.does;
		if (rule.does === "unclear") return "unclear";
		if (!rule.jumps) continue;
		const decided = decide(chains, rule.does, depth + 1);
		if (decided) return decided;
	}
	return undefined;
}

/**
 * Parses the chains from the output of `iptables -S`. Returns undefined if a line does not have its
 * format.
 */
export function parseIptables(text: string): Chains | undefined {
	const chains: Chains = new Map();
	for (const line of text.split("\n")) {
		if (line.trim() === "" || line.startsWith("#")) continue;
		if (line.length > 4096) return undefined;
		const [flag, name, ...rest] = line.trim().split(/\s+/);
		if (!name) return undefined;
		if (flag === "-P") {
			chains.set(name, { policy: rest[0]?.toLowerCase(), rules: [] });
		} else if (flag === "-N") {
			chains.set(name, { policy: undefined, rules: [] });
		} else if (flag === "-A") {
			chains.get(name)?.rules.push(readRule(rest));
		} else {
			return undefined;
		}
	}
	return chains.has("INPUT") ? chains : undefined;
}

function readRule(words: string[]): Rule {
	const at = words.findIndex((word) => word === "-j" || word === "-g");
	const target = words[at + 1] ?? "";
	// A comment is not a condition. It may contain blanks inside quotes.
	const conditions = words
		.slice(0, at)
		.join(" ")
		.replace(/-m comment --comment ("(?:[^"\\]|\\.)*"|\S+)/g, "")
		.trim();
	const verdict = /^(ACCEPT|DROP|REJECT|RETURN)$/.exec(target)?.[1];
	return {
		isForAll: at >= 0 && conditions === "",
		does: verdict === "REJECT" ? "drop" : (verdict?.toLowerCase() ?? target),
		jumps: at >= 0 && verdict === undefined,
	};
}

export interface NftVerdicts {
	ipv4: Verdict;
	ipv6: Verdict;
}

/**
 * Judges IPv4 and IPv6 by the rules that `nft -j list ruleset` prints. A packet goes through every
 * chain at the input hook, so one closed chain is enough. Returns undefined if the text has another
 * format.
 */
export function parseNftables(text: string): NftVerdicts | undefined {
	let ruleset: unknown;
	try {
		ruleset = JSON.parse(text);
	} catch {
		return undefined;
	}
	const entries = property(ruleset, "nftables");
	if (!Array.isArray(entries)) return undefined;
	const chains: Chains = new Map();
	const inputs: { family: string; name: string }[] = [];
	for (const entry of entries) {
		const chain = property(entry, "chain");
		if (chain !== undefined) {
			const name = keyOf(chain, "name");
			const policy = property(chain, "policy");
			chains.set(name, {
				policy: typeof policy === "string" ? policy : undefined,
				rules: [],
			});
			const family = String(property(chain, "family"));
			if (
				property(chain, "hook") === "input" &&
				property(chain, "type") === "filter"
			) {
				inputs.push({ family, name });
			}
		}
		const rule = property(entry, "rule");
		if (rule !== undefined) {
			chains.get(keyOf(rule, "chain"))?.rules.push(readExpressions(rule));
		}
	}
	const of = (families: string[]): Verdict => {
		const verdicts = inputs
			.filter(({ family }) => families.includes(family))
			.map(({ name }) => follow(chains, name));
		if (verdicts.includes("closed")) return "closed";
		return verdicts.includes(undefined) ? undefined : "open";
	};
	return {
		ipv4: of(["ip", "inet"]),
		ipv6: of(["ip6", "inet"]),
	};
}

const keyOf = (value: unknown, of: string) =>
	["family", "table", of].map((key) => String(property(value, key))).join("/");

/** Statements that do not decide what happens to a packet. */
const HARMLESS = new Set(["counter", "log", "comment"]);

function readExpressions(rule: unknown): Rule {
	const expressions = property(rule, "expr");
	let isForAll = true;
	for (const expression of Array.isArray(expressions) ? expressions : []) {
		if (typeof expression !== "object" || expression === null) continue;
		for (const verdict of ["accept", "drop", "reject", "return"]) {
			if (verdict in expression) {
				return {
					isForAll,
					does: verdict === "reject" ? "drop" : verdict,
					jumps: false,
				};
			}
		}
		// nft does not show what an iptables module does, but `iptables -S` does.
		const module = property(expression, "xt");
		if (module !== undefined && property(module, "type") !== "match") {
			return { isForAll, does: "unclear", jumps: false };
		}
		const jump = property(expression, "jump") ?? property(expression, "goto");
		if (jump !== undefined) {
			const family = property(rule, "family");
			const table = property(rule, "table");
			const does = `${family}/${table}/${property(jump, "target")}`;
			return { isForAll, does, jumps: true };
		}
		const isComment = property(module, "name") === "comment";
		if (
			!isComment &&
			!Object.keys(expression).every((key) => HARMLESS.has(key))
		) {
			isForAll = false;
		}
	}
	return { isForAll: false, does: "", jumps: false };
}

const property = (value: unknown, key: string): unknown =>
	typeof value === "object" && value !== null && Object.hasOwn(value, key)
		? (value as Record<string, unknown>)[key]
		: undefined;
