import { type Answer, anyOf } from "../answer.ts";
import {
	arrivesOn,
	comesFrom,
	goesTo,
	type Packet,
	PROTOCOL_NUMBERS,
	parseAddresses,
	SOURCE_PORT,
} from "./packet.ts";

type Option = (packet: Packet, values: readonly string[]) => Answer;

const yes: Option = () => true;
const no: Option = () => false;

const protocol: Option = (packet, [name = ""]) =>
	/^(all|0)$/.test(name) ||
	name === packet.protocol ||
	name === PROTOCOL_NUMBERS[packet.protocol];

/** Parses `22`, `1024:65535`, `:1023` and lists of these. */
const isPort = (port: number, list: string): Answer =>
	anyOf(
		list.split(",").map((part) => {
			const match = /^(\d{0,5})(:?)(\d{0,5})$/.exec(part);
			if (!match) return undefined;
			const [, from = "", colon, to = ""] = match;
			if (!colon) return from === "" ? undefined : Number(from) === port;
			return Number(from || 0) <= port && port <= Number(to || 65_535);
		}),
	);

const toPort: Option = (packet, [list = ""]) => isPort(packet.port, list);
const fromPort: Option = (_, [list = ""]) => isPort(SOURCE_PORT, list);

const includes = (name: string): Option => {
	return (_, [list = ""]) => list.toUpperCase().split(",").includes(name);
};

/**
 * The modules whose options are all listed below. Any other module's condition cannot be decided.
 */
export const KNOWN_MODULES: ReadonlySet<string> = new Set(
	"tcp udp multiport conntrack state comment limit hashlimit connlimit recent set pkttype addrtype policy icmp icmp6 mac rt hl iprange rpfilter mark connmark".split(
		" ",
	),
);

/**
 * Returns whether each option of `iptables-save` applies to a packet. See iptables-extensions(8).
 * The packet is a stranger's first one. It exceeds no rate or count, and no list has its address.
 */
export const IPTABLES_OPTIONS: Record<string, Option> = {
	"-p": protocol,
	"-i": (packet, [name = ""]) => arrivesOn(packet, name.replace(/\+$/, "*")),
	"-s": (packet, [text = ""]) => comesFrom(packet, parseAddresses(text)),
	"-d": (packet, [text = ""]) => goesTo(packet, text),
	"--src-range": (packet, [range = ""]) => {
		const [first = "", last] = range.split("-");
		return comesFrom(packet, parseAddresses(first, last));
	},
	// A first packet is never a later fragment.
	"-f": no,
	"--dport": toPort,
	"--dports": toPort,
	"--sport": fromPort,
	"--sports": fromPort,
	"--ports": (packet, values) =>
		anyOf([toPort(packet, values), fromPort(packet, values)]),
	"--syn": (packet) => packet.protocol === "tcp",
	"--tcp-flags": (packet, [mask = "", set = ""]) => {
		const has = (list: string) => /\b(SYN|ALL)\b/.test(list);
		return (
			packet.protocol === "tcp" && (has(mask) ? set === "SYN" : set === "NONE")
		);
	},
	"--ctstate": includes("NEW"),
	"--state": includes("NEW"),
	"--ctdir": includes("ORIGINAL"),
	"--ctstatus": (_, [list = ""]) => (/NONE/.test(list) ? undefined : false),
	"--comment": yes,
	"--limit": yes,
	"--limit-burst": yes,
	"--hashlimit": yes,
	"--hashlimit-upto": yes,
	"--hashlimit-above": no,
	"--hashlimit-burst": yes,
	"--hashlimit-mode": yes,
	"--hashlimit-name": yes,
	"--hashlimit-srcmask": yes,
	"--hashlimit-dstmask": yes,
	"--hashlimit-htable-size": yes,
	"--hashlimit-htable-max": yes,
	"--hashlimit-htable-expire": yes,
	"--hashlimit-htable-gcinterval": yes,
	"--connlimit-above": no,
	"--connlimit-upto": yes,
	"--connlimit-mask": yes,
	"--connlimit-saddr": yes,
	"--connlimit-daddr": yes,
	"--set": yes,
	"--rcheck": no,
	"--update": no,
	"--remove": no,
	"--seconds": yes,
	"--reap": yes,
	"--hitcount": yes,
	"--rttl": yes,
	"--name": yes,
	"--rsource": yes,
	"--rdest": yes,
	"--mask": yes,
	"--pkt-type": includes("UNICAST"),
	"--dst-type": (_, [list = ""]) =>
		/\b(LOCAL|UNICAST)\b/.test(list)
			? true
			: /^(MULTICAST|BROADCAST|ANYCAST|BLACKHOLE|UNREACHABLE|PROHIBIT|,)+$/.test(
						list,
					)
				? false
				: undefined,
	"--src-type": (_, [type]) =>
		type === "UNICAST" ? true : type === "LOCAL" ? false : undefined,
	"--limit-iface-in": yes,
	"--dir": yes,
	"--pol": (_, [kind]) => kind === "none",
	"--icmp-type": no,
	"--icmpv6-type": no,
	"--mac-source": no,
	"--rt-type": no,
	// A packet from another network has lost some of its 255 hops.
	"--hl-eq": (_, [hops]) => (hops === "255" ? false : undefined),
	"--validmark": yes,
	"--loose": yes,
	"--accept-local": yes,
	// The module rpfilter: the packet comes from where its answer would go.
	"--invert": no,
};
