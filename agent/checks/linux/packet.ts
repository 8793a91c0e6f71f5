import { BlockList, isIP } from "node:net";
import type { Answer } from "../answer.ts";

export type Family = "ipv4" | "ipv6";

/** The first packet of a connection that a stranger on another machine opens to this device. */
export interface Packet {
	family: Family;
	protocol: "tcp" | "udp";
	/** The interface on which the packet arrives. Undefined if the interfaces are not known. */
	interface: string | undefined;
	port: number;
}

/**
 * The ports that the packets go to, one below 1024 and one above. No common service uses them, so a
 * rule that lets these packets in lets in whatever listens.
 */
const PORTS = [1009, 21211];

/** An ordinary address on the internet, which stands for any stranger. */
export const STRANGER = { ipv4: "93.184.216.34", ipv6: "2606:2800:220:1::34" };

export const SOURCE_PORT = 50_123;

/** The numbers of the protocols in IP headers. */
export const PROTOCOL_NUMBERS = { tcp: "6", udp: "17" };

/** Returns a new TCP and a new UDP packet to each port on each interface. */
export function newPackets(
	family: Family,
	interfaces: readonly string[],
): Packet[] {
	const arrivals = interfaces.length > 0 ? interfaces : [undefined];
	return arrivals.flatMap((name) =>
		(["tcp", "udp"] as const).flatMap((protocol) =>
			PORTS.map((port) => ({ family, protocol, interface: name, port })),
		),
	);
}

/**
 * Returns whether the packet arrives on an interface that a name such as `eth0` or `eth*` means.
 */
export function arrivesOn(packet: Packet, name: string): Answer {
	// None of the packets arrives on the loopback interface.
	if (name === "lo") return false;
	if (name === "*") return true;
	if (packet.interface === undefined) return undefined;
	return name.endsWith("*")
		? packet.interface.startsWith(name.slice(0, -1))
		: packet.interface === name;
}

/** An address, a network or a range of addresses. */
export interface Addresses {
	family: Family;
	contains(address: string): boolean;
	isEverything: boolean;
}

/** Parses `192.0.2.0/24`, `192.0.2.1` or, with `last`, a range. */
export function parseAddresses(
	text: string,
	last?: string,
): Addresses | undefined {
	const [address = "", mask] = text.split("/");
	const version = isIP(address);
	if (version === 0) return undefined;
	const family = version === 4 ? "ipv4" : "ipv6";
	const list = new BlockList();
	let length = version === 4 ? 32 : 128;
	if (last !== undefined) {
		if (isIP(last) !== version) return undefined;
		try {
			list.addRange(address, last, family);
		} catch {
			return undefined;
		}
	} else {
		if (mask !== undefined) {
			const parsed = parseMask(mask);
			if (parsed === undefined || parsed > length) return undefined;
			length = parsed;
		}
		list.addSubnet(address, length, family);
	}
	return {
		family,
		contains: (other) => list.check(other, family),
		isEverything: last === undefined && length === 0,
	};
}

/** Parses `24` or `255.255.255.0`. Returns undefined for a mask with gaps. */
function parseMask(mask: string): number | undefined {
	if (/^\d{1,3}$/.test(mask)) return Number(mask);
	if (isIP(mask) !== 4) return undefined;
	const bits = mask
		.split(".")
		.map((part) => Number(part).toString(2).padStart(8, "0"))
		.join("");
	return /^1*0*$/.test(bits) ? bits.replace(/0/g, "").length : undefined;
}

export const comesFrom = (
	packet: Packet,
	addresses: Addresses | undefined,
): Answer =>
	addresses === undefined
		? undefined
		: addresses.family === packet.family &&
			addresses.contains(STRANGER[packet.family]);

/** Addresses that a packet to the device itself never has as its destination. */
const NOT_THE_DEVICE = {
	ipv4: ["127.0.0.0/8", "224.0.0.0/4", "255.255.255.255"],
	ipv6: ["::1", "ff00::/8"],
};

/** Returns whether the packet's destination, an unknown address of the device, is among these. */
export function goesTo(packet: Packet, text: string, last?: string): Answer {
	const addresses = parseAddresses(text, last);
	if (!addresses) return undefined;
	if (addresses.family !== packet.family) return false;
	if (addresses.isEverything) return true;
	const first = text.split("/")[0] ?? "";
	return NOT_THE_DEVICE[packet.family].some((network) =>
		parseAddresses(network)?.contains(first),
	)
		? false
		: undefined;
}
