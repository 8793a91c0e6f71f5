import { allOf } from "../answer.ts";
import { nftHasKey, nftMatches, property, type Sets } from "./nft-matches.ts";
import type {
	Action,
	BaseChain,
	Condition,
	Rule,
	Ruleset,
} from "./packet-filter.ts";

/** The rules of nftables, which differ between IPv4 and IPv6. */
export interface NftRulesets {
	ipv4: Ruleset;
	ipv6: Ruleset;
	/** True if a rule depends on a set whose elements were not listed. */
	needsSets: boolean;
}

/**
 * Parses the output of `nft -j list ruleset`. Leaves out the tables of iptables, if the caller
 * knows those rules from iptables itself: nft does not show what their modules do. Returns
 * undefined if the text has another format.
 */
export function parseNftables(
	text: string,
	{ withIptables }: { withIptables: boolean },
): NftRulesets | undefined {
	const entries = parseEntries(text);
	if (!entries) return undefined;
	const iptables = withIptables ? new Set<string>() : iptablesTables(entries);
	const kept = entries.filter((entry) => {
		const thing = property(entry, "chain") ?? property(entry, "rule");
		return !iptables.has(tableOf(thing));
	});
	const forFamily = (families: string[]): Ruleset => ({
		chains: chainsOf(kept),
		bases: basesOf(kept, families),
	});
	return {
		ipv4: forFamily(["ip", "inet", "netdev"]),
		ipv6: forFamily(["ip6", "inet", "netdev"]),
		needsSets: entries.some(
			(entry) =>
				(property(entry, "set") ?? property(entry, "map")) !== undefined,
		),
	};
}

function parseEntries(text: string): unknown[] | undefined {
	try {
		const entries = property(JSON.parse(text), "nftables");
		return Array.isArray(entries) ? entries : undefined;
	} catch {
		return undefined;
	}
}

const tableOf = (thing: unknown) =>
	`${property(thing, "family")}/${property(thing, "table")}`;

/** Returns the tables with modules of iptables, which only iptables makes. */
function iptablesTables(entries: unknown[]): Set<string> {
	const tables = new Set<string>();
	for (const entry of entries) {
		const rule = property(entry, "rule");
		const expressions = property(rule, "expr");
		if (
			Array.isArray(expressions) &&
			expressions.some((one) => property(one, "xt") !== undefined)
		) {
			tables.add(tableOf(rule));
		}
	}
	return tables;
}

const HOOKS = ["ingress", "prerouting", "input"];

function basesOf(entries: unknown[], families: string[]): BaseChain[] {
	const bases: BaseChain[] = [];
	for (const entry of entries) {
		const chain = property(entry, "chain");
		const hook = property(chain, "hook");
		if (
			!families.includes(String(property(chain, "family"))) ||
			!HOOKS.includes(String(hook)) ||
			property(chain, "type") !== "filter"
		) {
			continue;
		}
		const device = property(chain, "dev");
		const devices = Array.isArray(device) ? device : [device];
		for (const name of devices) {
			bases.push({
				chain: keyOf(chain, property(chain, "name")),
				policy: property(chain, "policy") === "drop" ? "drop" : "accept",
				...(typeof name === "string" && { device: name }),
			});
		}
	}
	return bases;
}

function chainsOf(entries: unknown[]): Map<string, Rule[]> {
	const sets = new Map<string, Sets>();
	const chains = new Map<string, Rule[]>();
	for (const entry of entries) {
		const chain = property(entry, "chain");
		if (chain !== undefined) {
			chains.set(keyOf(chain, property(chain, "name")), []);
		}
		const set = property(entry, "set") ?? property(entry, "map");
		const elements = property(set, "elem");
		if (Array.isArray(elements)) {
			const ofTable = sets.get(tableOf(set)) ?? new Map();
			ofTable.set(`@${property(set, "name")}`, elements);
			sets.set(tableOf(set), ofTable);
		}
	}
	for (const entry of entries) {
		const rule = property(entry, "rule");
		if (rule === undefined) continue;
		const known = sets.get(tableOf(rule)) ?? new Map();
		chains
			.get(keyOf(rule, property(rule, "chain")))
			?.push(...readRule(rule, known));
	}
	return chains;
}

const keyOf = (thing: unknown, name: unknown) => `${tableOf(thing)}/${name}`;

/** Statements that neither choose packets nor decide about them. */
const NEUTRAL = new Set(
	"counter log comment continue set map mangle notrack dup flow quota".split(
		" ",
	),
);
/** Modules of iptables that only note something. */
const NEUTRAL_MODULES = new Set(["comment", "LOG", "NFLOG", "MARK"]);

/** Returns one rule for each verdict: a rule with a verdict map has one for each entry. */
function readRule(rule: unknown, sets: Sets): Rule[] {
	const listed = property(rule, "expr");
	const expressions = Array.isArray(listed) ? listed : [];
	const isDrop = expressions.some(
		(one) => actionOf(one, rule)?.kind === "drop",
	);
	const conditions: Condition[] = [];
	const rules: Rule[] = [];
	const add = (action: Action, also?: Condition) => {
		const all = also ? [...conditions, also] : [...conditions];
		rules.push({
			matches: (packet) => allOf(all.map((condition) => condition(packet))),
			action,
		});
	};
	for (const expression of expressions) {
		const match = property(expression, "match");
		const map = property(expression, "vmap");
		const module = property(expression, "xt");
		const action = actionOf(expression, rule);
		if (action) {
			add(action);
		} else if (match !== undefined) {
			const isBlocked = isDrop && isSourceInSet(match);
			conditions.push((packet) => {
				const answer = nftMatches(match, packet, sets);
				// A list of blocked addresses does not hold every stranger.
				return answer === undefined && isBlocked ? false : answer;
			});
		} else if (map !== undefined) {
			const key = property(map, "key");
			const entries = entriesOf(property(map, "data"), sets);
			if (!entries) add({ kind: "unclear" }, () => undefined);
			for (const [element, verdict] of entries ?? []) {
				const does = actionOf(verdict, rule);
				if (does) {
					add(does, (packet) => nftHasKey(key, element, packet, sets));
				}
			}
		} else if (module !== undefined) {
			if (NEUTRAL_MODULES.has(String(property(module, "name")))) continue;
			if (property(module, "type") === "match") {
				conditions.push(() => undefined);
			} else {
				add({ kind: "unclear" });
			}
		} else {
			const condition = conditionOf(expression);
			if (condition) conditions.push(condition);
		}
	}
	return rules;
}

function isSourceInSet(match: unknown): boolean {
	const right = property(match, "right");
	return (
		property(property(property(match, "left"), "payload"), "field") ===
			"saddr" &&
		property(match, "op") !== "!=" &&
		typeof right === "string" &&
		right.startsWith("@")
	);
}

function entriesOf(
	data: unknown,
	sets: Sets,
): [unknown, unknown][] | undefined {
	const listed =
		typeof data === "string" ? sets.get(data) : property(data, "set");
	return Array.isArray(listed) && listed.every(Array.isArray)
		? (listed as [unknown, unknown][])
		: undefined;
}

function actionOf(expression: unknown, rule: unknown): Action | undefined {
	if (typeof expression !== "object" || expression === null) return undefined;
	if ("accept" in expression) return { kind: "accept" };
	if ("drop" in expression || "reject" in expression) return { kind: "drop" };
	if ("return" in expression) return { kind: "return" };
	for (const kind of ["jump", "goto"] as const) {
		const to = property(expression, kind);
		if (to !== undefined) {
			return { kind, chain: keyOf(rule, property(to, "target")) };
		}
	}
	return "queue" in expression ||
		"tproxy" in expression ||
		"synproxy" in expression
		? { kind: "unclear" }
		: undefined;
}

/** Returns the condition of a statement, if it has one. The packet is a stranger's first one. */
function conditionOf(expression: unknown): Condition | undefined {
	if (typeof expression !== "object" || expression === null) {
		return () => undefined;
	}
	for (const name of ["limit", "ct count"]) {
		if (name in expression) {
			const isOver = property(property(expression, name), "inv") === true;
			return () => !isOver;
		}
	}
	const nested = property(property(expression, "set"), "stmt");
	if (Array.isArray(nested)) {
		const conditions = nested.map(conditionOf).filter((one) => one);
		return (packet) => allOf(conditions.map((one) => one?.(packet)));
	}
	return Object.keys(expression).every((key) => NEUTRAL.has(key))
		? undefined
		: () => undefined;
}
