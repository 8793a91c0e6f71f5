import { allOf, not } from "../answer.ts";
import { IPTABLES_OPTIONS, KNOWN_MODULES } from "./iptables-options.ts";
import type {
	Action,
	BaseChain,
	Condition,
	Rule,
	Ruleset,
} from "./packet-filter.ts";

/** The chains that an incoming packet goes through, by their table. */
const BASES = [
	"raw PREROUTING",
	"mangle PREROUTING",
	"mangle INPUT",
	"filter INPUT",
	"security INPUT",
];

/**
 * Parses the output of `iptables-save`. Returns undefined if a line does not have its format. An
 * empty text means that there are no rules.
 */
export function parseIptables(text: string): Ruleset | undefined {
	const chains = new Map<string, Rule[]>();
	const policies = new Map<string, string>();
	const rules: { table: string; chain: string; words: string[] }[] = [];
	let table: string | undefined;
	for (const line of text.split("\n").map((raw) => raw.trim())) {
		if (line === "" || line.startsWith("#") || line === "COMMIT") continue;
		if (line.length > 4096) return undefined;
		if (line.startsWith("*")) {
			table = line.slice(1);
			continue;
		}
		const chain = /^:(\S+) (\S+)/.exec(line);
		if (table === undefined) return undefined;
		if (chain) {
			chains.set(`${table} ${chain[1]}`, []);
			policies.set(`${table} ${chain[1]}`, chain[2] ?? "");
			continue;
		}
		const [flag, name, ...words] = splitWords(line);
		if (flag !== "-A" || !name) return undefined;
		rules.push({ table, chain: `${table} ${name}`, words });
	}
	for (const { table, chain, words } of rules) {
		const rule = readRule(words, (name) => `${table} ${name}`, chains);
		if (rule) chains.get(chain)?.push(rule);
	}
	return { chains, bases: BASES.flatMap((chain) => baseOf(chain, policies)) };
}

function baseOf(chain: string, policies: Map<string, string>): BaseChain[] {
	const policy = policies.get(chain);
	if (policy === undefined) return [];
	return [{ chain, policy: policy === "DROP" ? "drop" : "accept" }];
}

/**
 * Splits a line at blanks, except in quoted texts such as comments. A quoted text without an end
 * takes the rest of the line, so that the pattern never starts again behind it.
 */
const splitWords = (line: string): string[] =>
	(line.match(/"(?:[^"\\]|\\.)*"?|\S+/g) ?? []).map((word) =>
		word.startsWith('"') ? word.slice(1, -1) : word,
	);

/** Targets that only note or change something before the next rule. */
const NEUTRAL = new Set(
	"LOG NFLOG ULOG MARK CONNMARK SET TCPMSS CT NOTRACK AUDIT TRACE CHECKSUM CLASSIFY DSCP TOS TTL HL SECMARK CONNSECMARK RATEEST IDLETIMER LED TEE ECN".split(
		" ",
	),
);

/** Returns undefined for a rule that decides nothing. */
function readRule(
	words: string[],
	keyOf: (chain: string) => string,
	chains: Map<string, Rule[]>,
): Rule | undefined {
	const at = words.findIndex((word) => word === "-j" || word === "-g");
	if (at < 0) return undefined;
	const target = words[at + 1] ?? "";
	const action = actionOf(words[at] === "-g", target, keyOf(target), chains);
	if (!action) return undefined;
	const conditions = readConditions(words.slice(0, at), action.kind === "drop");
	return {
		matches: (packet) => allOf(conditions.map((one) => one(packet))),
		action,
	};
}

function actionOf(
	isGoto: boolean,
	target: string,
	chain: string,
	chains: Map<string, Rule[]>,
): Action | undefined {
	if (chains.has(chain)) return { kind: isGoto ? "goto" : "jump", chain };
	if (target === "ACCEPT") return { kind: "accept" };
	if (/^(DROP|REJECT|TARPIT)$/.test(target)) return { kind: "drop" };
	if (target === "RETURN") return { kind: "return" };
	return NEUTRAL.has(target) ? undefined : { kind: "unclear" };
}

function readConditions(words: string[], isDrop: boolean): Condition[] {
	const conditions: Condition[] = [];
	let isNegated = false;
	for (let index = 0; index < words.length; index += 1) {
		const option = words[index] ?? "";
		if (option === "!") {
			isNegated = true;
			continue;
		}
		const values: string[] = [];
		while (index + 1 < words.length && !isOption(words[index + 1])) {
			index += 1;
			values.push(words[index] ?? "");
		}
		if (option === "-m") {
			if (!KNOWN_MODULES.has(values[0] ?? "")) conditions.push(() => undefined);
		} else if (
			option === "--match-set" &&
			isDrop &&
			!isNegated &&
			values[1]?.startsWith("src")
		) {
			// A list of blocked addresses does not hold every stranger.
			conditions.push(() => false);
		} else {
			const condition = Object.hasOwn(IPTABLES_OPTIONS, option)
				? IPTABLES_OPTIONS[option]
				: () => undefined;
			const negate = isNegated;
			conditions.push((packet) => {
				const answer = condition?.(packet, values);
				return negate ? not(answer) : answer;
			});
		}
		isNegated = false;
	}
	return conditions;
}

const isOption = (word: string | undefined) =>
	word === "!" || /^--?[a-z]/i.test(word ?? "");
