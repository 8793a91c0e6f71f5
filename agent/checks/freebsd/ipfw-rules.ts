import { type Answer, allOf } from "../answer.ts";
import { goesToPort, isOwnAddress, type NewPacket } from "./new-packets.ts";

type Action = "pass" | "block";

const PASS = /^(allow|accept|pass|permit)$/;
const BLOCK = /^(deny|drop|reject|reset6?|unreach6?)$/;
/** Actions after which the next rule follows. A new packet has no state that is known already. */
const NEUTRAL = /^(count|check-state|\/\/)$/;

/**
 * Returns what ipfw does with a packet, by the output of `ipfw list`, or undefined if that is not
 * certain. The first matching rule decides. If a condition or an action such as `skipto` cannot be
 * decided, the result is certain only if every rule that may follow does the same.
 */
export function judgeByIpfw(
	rules: string,
	packet: NewPacket,
): Action | undefined {
	const found = new Set<Action | undefined>();
	for (const line of rules.split("\n")) {
		const [, action = "", rest = ""] =
			/^\d{5} +(\S{1,20})(?: (.{0,500}))?$/.exec(line.trimEnd()) ?? [];
		if (action === "" || NEUTRAL.test(action)) continue;
		const match = matches(rest, packet);
		if (match === false) continue;
		const does = PASS.test(action)
			? "pass"
			: BLOCK.test(action)
				? "block"
				: undefined;
		found.add(does);
		if (match && does !== undefined) break;
	}
	return found.size === 1 ? [...found][0] : undefined;
}

/**
 * The part of a rule before its target, such as `allow tcp from any` of `allow tcp from any to me`.
 */
const SOURCE =
	/^(?:(?:host|net|port|filter-prohib|needfrag|\d+) )?(?:log (?:logamount \d+ )?)?(\S{1,20}|\{[^}]{1,60}\}) from (?:(not) )?(\S{1,200})(?: (\d[\d,-]*))?$/;

/**
 * The target of a rule, with its ports and options, such as `me 22 setup keep-state :default`. The
 * words behind the address and the ports are options.
 */
const TARGET = /^(?:(not) )?(\S{1,200})(?: (.{0,300}))?$/;

/** Ports as numbers and ranges, or as names of services. */
const PORTS = /^(\d[\d,-]*|[a-z]{1,20}(,[a-z\d-]+)*)$/;

function matches(text: string, packet: NewPacket): Answer {
	const [before = "", ...behind] = text.split(" to ");
	const source = SOURCE.exec(before);
	const target = TARGET.exec(behind.join(" to "));
	if (!source || !target) return undefined;
	const [, protocol = "", notFrom, from, fromPorts] = source;
	const [, notTo, to, rest = ""] = target;
	const words = rest.replace(/^dst-port /, "").split(/ +/);
	const [first = ""] = words;
	const ports =
		PORTS.test(first) && !OPTION_WORDS.test(first) ? words.shift() : undefined;
	return allOf([
		isProtocol(protocol, packet),
		notFrom ? undefined : from === "any",
		fromPorts === undefined || undefined,
		notTo ? undefined : isOwnAddress(to ?? ""),
		ports === undefined || goesToPort(ports, packet.port),
		...words.map(optionOf(packet, ` ${words.join(" ")}`)),
	]);
}

const OPTION_WORDS =
	/^(in|out|via|recv|xmit|setup|established|keep-state|limit|frag|record-state)$/;

function isProtocol(protocol: string, packet: NewPacket): Answer {
	if (/^(ip|all)$/.test(protocol)) return true;
	if (/^(ip4|ipv4)$/.test(protocol)) return packet.family === "inet";
	if (/^(ip6|ipv6)$/.test(protocol)) return packet.family === "inet6";
	if (protocol.startsWith("{")) {
		return protocol.split(/[ {}]+/).includes(packet.protocol);
	}
	return protocol === packet.protocol;
}

/** Returns whether each option of a rule applies to the packet. */
const optionOf =
	(packet: NewPacket, all: string) =>
	(word: string, index: number, words: string[]): Answer => {
		const before = words[index - 1] ?? "";
		if (/^(via|recv)$/.test(before)) {
			return /^lo\d*$/.test(word) ? false : undefined;
		}
		if (/^(:\S+|)$/.test(word) || /^(via|recv|in)$/.test(word)) return true;
		if (word === "out" || word === "frag") return false;
		if (word === "setup") return packet.protocol === "tcp";
		if (word === "established") return false;
		if (/^(keep-state|record-state)$/.test(word)) return true;
		// `limit src-addr 10` lets in a first packet.
		return / limit (src|dst)-(addr|port) \d+/.test(all) &&
			/^(limit|(src|dst)-(addr|port)|\d+)$/.test(word)
			? true
			: undefined;
	};
