import { type Answer, allOf } from "../answer.ts";
import { goesToPort, isOwnAddress, type NewPacket } from "./new-packets.ts";

type Action = "pass" | "block";

interface PfRule {
	/** Undefined for an anchor, which holds rules of other programs that the list does not show. */
	action: Action | undefined;
	isQuick: boolean;
	matches(packet: NewPacket): Answer;
}

/**
 * A rule as pfctl prints it, such as `pass in quick on em0 inet proto tcp from any to any port =
 * ssh flags S/SA keep state`. The words behind the addresses are options.
 */
const ADDRESS =
	"((?:! )?\\S{1,100})(?: port ([<>!=]{1,2} \\S{1,30}|\\d{1,5} (?:><|<>) \\d{1,5}|\\S{1,30}))?";
const RULE = new RegExp(
	`^(pass|block)(?: drop| return(?:-[a-z0-9]{2,5})?(?:\\([^)]{0,60}\\))*)?(?: (in|out))?(?: log(?: \\([^)]{0,60}\\))?)?( quick)?(?: on (! )?(\\S{1,32}))?(?: (inet6?))?(?: proto (\\S{1,20}))? (?:all|from ${ADDRESS} to ${ADDRESS})(.{0,300})$`,
);

/** Options that do not choose packets. */
const NEUTRAL =
	/^(?: (?:flags \S{1,12}|(?:keep|modulate|synproxy) state(?: \([^)]{0,200}\))?|no state|label "[^"]{0,64}"|allow-opts|tag \S{1,64}|queue \S{1,64}|ridentifier \d{1,10}))*$/;

/** Reads the output of `pfctl -s rules`. A rule of an unknown form may match any packet. */
export const parsePfRules = (text: string): PfRule[] =>
	text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => /^(pass|block|anchor)\b/.test(line))
		.map(parseRule);

function parseRule(line: string): PfRule {
	const rule = line.length > 1000 ? null : RULE.exec(line);
	if (!rule) {
		const action = /^(pass|block)\b/.exec(line)?.[1] as Action | undefined;
		const isQuick = / quick\b/.test(line.slice(0, 200));
		return { action, isQuick, matches: () => undefined };
	}
	const [, action, direction, quick, not, name, family, protocol] = rule;
	const [from, fromPorts, to, toPorts, options = ""] = rule.slice(8);
	const isNeutral = NEUTRAL.test(options);
	return {
		action: action as Action,
		isQuick: quick !== undefined,
		matches: (packet) =>
			allOf([
				direction !== "out",
				name === undefined || (name === packet.interface) === !not,
				family === undefined || family === packet.family,
				protocol === undefined || protocol === packet.protocol,
				from === undefined || comesFrom(from),
				fromPorts === undefined || undefined,
				to === undefined || isOwnAddress(to),
				toPorts === undefined || goesToPort(toPorts, packet.port),
				isNeutral || undefined,
			]),
	};
}

/** Returns whether a stranger on the internet is among the sources. */
const comesFrom = (source: string): Answer =>
	source === "any" ? true : source.startsWith("!") ? undefined : false;

/**
 * Returns what pf does with a packet, or undefined if that is not certain. The last matching rule
 * decides, unless an earlier one is `quick`. If a condition cannot be decided, the packet goes both
 * ways.
 */
export function judgeByPf(
	rules: readonly PfRule[],
	packet: NewPacket,
): Action | undefined {
	let current = new Set<Action>(["pass"]);
	const final = new Set<Action>();
	for (const { action, isQuick, matches } of rules) {
		const match = matches(packet);
		if (match === false) continue;
		if (action === undefined) {
			current = new Set(["pass", "block"]);
			continue;
		}
		if (isQuick) final.add(action);
		else if (match) current = new Set([action]);
		else current.add(action);
		if (isQuick && match) return onlyOne(final);
	}
	return onlyOne(new Set([...final, ...current]));
}

const onlyOne = (actions: Set<Action>): Action | undefined =>
	actions.size === 1 ? [...actions][0] : undefined;

/** Returns the interfaces that rules name, except the loopback. */
export function interfacesIn(text: string): string[] {
	const found = text.matchAll(/ on (?:! )?(\S{1,32})/g);
	const names = new Set([...found].map(([, name = ""]) => name));
	return [...names].filter((name) => !/^lo\d*$/.test(name));
}
