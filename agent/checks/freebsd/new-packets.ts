import type { Answer } from "../answer.ts";

/** The first packet of a connection that a stranger on the internet opens to this device. */
export interface NewPacket {
	family: "inet" | "inet6";
	protocol: "tcp" | "udp";
	/** The interface on which it arrives. Undefined stands for one that no rule names. */
	interface: string | undefined;
	port: number;
}

/** Ports that no common service uses, so no rule for a service lets the packets in. */
const PORTS = [1009, 21211];

/** Returns a new TCP and a new UDP packet to each port on each interface. */
export const newPackets = (
	interfaces: readonly (string | undefined)[],
): NewPacket[] =>
	interfaces.flatMap((name) =>
		(["inet", "inet6"] as const).flatMap((family) =>
			(["tcp", "udp"] as const).flatMap((protocol) =>
				PORTS.map((port) => ({ family, protocol, interface: name, port })),
			),
		),
	);

/** Returns whether an address may be one of the device, which the check does not know. */
export const isOwnAddress = (address: string): Answer =>
	/^(any|me6?|self|\([^!]*\))$/.test(address)
		? true
		: /^(127\.|::1\b|22[4-9]\.|23\d\.|255\.255\.255\.255|ff0)/.test(address)
			? false
			: undefined;

/**
 * Returns whether a condition on ports has the port, in the words of pf (`= ssh`, `1024:65535`, `>
 * 1023`, `1000 >< 2000`) or ipfw (`22,80,1024-65535`). A name is that of a common service.
 */
export function goesToPort(condition: string, port: number): Answer {
	const [, sign, number] = /^(=|!=|<=?|>=?) (\d{1,5})$/.exec(condition) ?? [];
	switch (sign) {
		case "=":
			return port === Number(number);
		case "!=":
			return port !== Number(number);
		case "<":
			return port < Number(number);
		case "<=":
			return port <= Number(number);
		case ">":
			return port > Number(number);
		case ">=":
			return port >= Number(number);
	}
	const [, low, between, high] =
		/^(\d{1,5}) (><|<>) (\d{1,5})$/.exec(condition) ?? [];
	if (between === "><") return port > Number(low) && port < Number(high);
	if (between === "<>") return port < Number(low) || port > Number(high);
	if (/^= [a-z][a-z0-9-]{0,30}$/.test(condition)) return false;
	const parts = condition.split(",");
	const inParts = parts.map((part): Answer => {
		const [, first, last] = /^(\d{1,5})(?:[:-](\d{1,5}))?$/.exec(part) ?? [];
		if (first === undefined) {
			return /^[a-z][a-z0-9]{0,30}$/.test(part) ? false : undefined;
		}
		return port >= Number(first) && port <= Number(last ?? first);
	});
	return inParts.includes(true)
		? true
		: inParts.includes(undefined)
			? undefined
			: false;
}
