import { type Answer, allOf, anyOf, not } from "../answer.ts";
import {
	arrivesOn,
	comesFrom,
	goesTo,
	type Packet,
	PROTOCOL_NUMBERS,
	parseAddresses,
	SOURCE_PORT,
} from "./packet.ts";

/** The elements of sets by `@name`. A set whose elements were not listed is missing. */
export type Sets = Map<string, unknown[]>;

/** Compares a property of the packet with one element: a value, a prefix or a range. */
type Compare = (element: unknown) => Answer;

/**
 * Returns whether a match of nft's JSON format applies to the packet. See libnftables-json(5).
 */
export function nftMatches(match: unknown, packet: Packet, sets: Sets): Answer {
	const op = property(match, "op");
	const left = property(match, "left");
	const right = property(match, "right");
	if (tcpFlags(left)) return compareFlags(left, op, right, packet);
	const compare = compareWith(left, packet);
	if (compare === "absent") return false;
	if (compare === undefined) return undefined;
	const found = isAmong(compare, right, sets);
	switch (op) {
		case "==":
		case "in":
			return found;
		case "!=":
			return not(found);
		default: {
			const value = numberOf(left, packet);
			return value === undefined || typeof right !== "number"
				? undefined
				: op === "<"
					? value < right
					: op === ">"
						? value > right
						: op === "<="
							? value <= right
							: op === ">="
								? value >= right
								: undefined;
		}
	}
}

/** Returns whether the packet has the key of an entry of a verdict map. */
export function nftHasKey(
	key: unknown,
	element: unknown,
	packet: Packet,
	sets: Sets,
): Answer {
	const compare = compareWith(key, packet);
	if (compare === "absent") return false;
	return compare && isAmong(compare, element, sets);
}

function isAmong(compare: Compare, right: unknown, sets: Sets): Answer {
	if (typeof right === "string" && right.startsWith("@")) {
		const elements = sets.get(right);
		return (
			elements && anyOf(elements.map((one) => isAmong(compare, one, sets)))
		);
	}
	const list = Array.isArray(right) ? right : property(right, "set");
	if (Array.isArray(list)) {
		return anyOf(list.map((element) => isAmong(compare, element, sets)));
	}
	const value = property(property(right, "elem"), "val");
	return compare(value ?? right);
}

/**
 * Returns how to compare a property of the packet, or `absent` if the packet has no such part, as a
 * UDP packet has no TCP port. A match on an absent part never applies, whatever its operator.
 */
function compareWith(
	left: unknown,
	packet: Packet,
): Compare | "absent" | undefined {
	const parts = property(left, "concat");
	if (Array.isArray(parts)) {
		const compares = parts.map((part) => compareWith(part, packet));
		if (compares.includes("absent")) return "absent";
		return (element) => {
			const values = property(element, "concat");
			if (!Array.isArray(values) || values.length !== compares.length) {
				return undefined;
			}
			return allOf(
				compares.map((compare, index) =>
					typeof compare === "function"
						? isAmong(compare, values[index], new Map())
						: undefined,
				),
			);
		};
	}
	const payload = property(left, "payload");
	if (payload !== undefined) return comparePayload(payload, packet);
	const meta = property(property(left, "meta"), "key");
	if (meta !== undefined) return compareMeta(meta, packet);
	const ct = property(property(left, "ct"), "key");
	if (ct !== undefined) return compareConnection(ct);
	const fib = property(left, "fib");
	if (fib !== undefined) return compareRoute(fib);
	return undefined;
}

function comparePayload(
	payload: unknown,
	packet: Packet,
): Compare | "absent" | undefined {
	const protocol = property(payload, "protocol");
	const field = property(payload, "field");
	switch (protocol) {
		case "tcp":
		case "udp":
		case "th":
			if (protocol !== "th" && protocol !== packet.protocol) return "absent";
			return field === "dport"
				? numbers(packet.port)
				: field === "sport"
					? numbers(SOURCE_PORT)
					: undefined;
		case "ip":
		case "ip6":
			if ((protocol === "ip") !== (packet.family === "ipv4")) return "absent";
			if (field === "saddr") {
				return (element) => {
					const [first, last] = addressesOf(element);
					return first === undefined
						? undefined
						: comesFrom(packet, parseAddresses(first, last));
				};
			}
			if (field === "daddr") {
				return (element) => {
					const [first, last] = addressesOf(element);
					return first === undefined ? undefined : goesTo(packet, first, last);
				};
			}
			return field === "protocol" || field === "nexthdr"
				? words(packet.protocol, PROTOCOL_NUMBERS[packet.protocol])
				: undefined;
		case "ether":
			return field === "type"
				? words(packet.family === "ipv4" ? "ip" : "ip6")
				: undefined;
		case "icmp":
		case "icmpv6":
		case "igmp":
		case "sctp":
		case "dccp":
		case "udplite":
		case "ah":
		case "esp":
		case "comp":
		case "arp":
			return "absent";
		default:
			return undefined;
	}
}

function compareMeta(key: unknown, packet: Packet): Compare | undefined {
	switch (key) {
		case "l4proto":
			return words(packet.protocol, PROTOCOL_NUMBERS[packet.protocol]);
		case "nfproto":
			return words(packet.family);
		case "protocol":
			return words(packet.family === "ipv4" ? "ip" : "ip6");
		case "iif":
		case "iifname":
			return (name) =>
				typeof name === "string" ? arrivesOn(packet, name) : undefined;
		case "pkttype":
			return words("host", "unicast");
		case "iiftype":
			return (type) => (type === "loopback" ? false : undefined);
		default:
			return undefined;
	}
}

function compareConnection(key: unknown): Compare | undefined {
	switch (key) {
		case "state":
			return words("new");
		case "direction":
			return words("original");
		case "status":
			return words();
		default:
			return undefined;
	}
}

function compareRoute(fib: unknown): Compare | undefined {
	const flags = property(fib, "flags");
	if (property(fib, "result") === "type") {
		return Array.isArray(flags) && flags.includes("daddr")
			? words("local")
			: words("unicast");
	}
	// The packet comes from where its answer would go, so the route exists.
	return (element) => (typeof element === "boolean" ? element : undefined);
}

const words =
	(...actual: string[]): Compare =>
	(element) =>
		typeof element === "string" || typeof element === "number"
			? actual.includes(String(element))
			: undefined;

const numbers =
	(actual: number): Compare =>
	(element) => {
		if (typeof element === "number") return actual === element;
		const range = property(element, "range");
		return Array.isArray(range)
			? actual >= Number(range[0]) && actual <= Number(range[1])
			: undefined;
	};

function numberOf(left: unknown, packet: Packet): number | undefined {
	const field = property(property(left, "payload"), "field");
	return field === "dport"
		? packet.port
		: field === "sport"
			? SOURCE_PORT
			: undefined;
}

/** Returns an address or a prefix as text, or both ends of a range. */
function addressesOf(element: unknown): [string?, string?] {
	if (typeof element === "string") return [element];
	const prefix = property(element, "prefix");
	if (prefix !== undefined) {
		return [`${property(prefix, "addr")}/${property(prefix, "len")}`];
	}
	const range = property(element, "range");
	return Array.isArray(range) ? [String(range[0]), String(range[1])] : [];
}

interface TcpFlags {
	mask: string[] | undefined;
}

function tcpFlags(left: unknown): TcpFlags | undefined {
	const masked = property(left, "&");
	const [field, mask] = Array.isArray(masked) ? masked : [left, undefined];
	const payload = property(field, "payload");
	return property(payload, "protocol") === "tcp" &&
		property(payload, "field") === "flags"
		? { mask: masked === undefined ? undefined : flagNames(mask) }
		: undefined;
}

/** Compares the flags of a packet that opens a connection, which has only `syn`. */
function compareFlags(
	left: unknown,
	op: unknown,
	right: unknown,
	packet: Packet,
): Answer {
	if (packet.protocol !== "tcp") return false;
	const { mask } = tcpFlags(left) ?? {};
	const wanted = flagNames(right);
	if (op === "in") return wanted.includes("syn");
	const actual = mask && !mask.includes("syn") ? [] : ["syn"];
	const isEqual =
		wanted.length === actual.length && wanted.every((f) => actual.includes(f));
	return op === "==" ? isEqual : op === "!=" ? !isEqual : undefined;
}

/** Returns the names in `"syn"`, `["fin", "syn"]` or `{"|": ["fin", "syn"]}`. */
function flagNames(value: unknown): string[] {
	if (value === 0) return [];
	if (typeof value === "string") return [value];
	const list = Array.isArray(value) ? value : property(value, "|");
	return Array.isArray(list) ? list.flatMap(flagNames) : ["unknown"];
}

export const property = (value: unknown, key: string): unknown =>
	typeof value === "object" && value !== null && Object.hasOwn(value, key)
		? (value as Record<string, unknown>)[key]
		: undefined;
