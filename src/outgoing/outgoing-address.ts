import { BlockList, isIP } from "node:net";
import { badFields } from "../errors.ts";
import { resolveHost } from "./resolve-host.ts";

/** Networks that are not part of the public internet (IANA's registries of special addresses). */
const SPECIAL_IPV4 = [
	["0.0.0.0", 8],
	["10.0.0.0", 8],
	["100.64.0.0", 10],
	["127.0.0.0", 8],
	["169.254.0.0", 16],
	["172.16.0.0", 12],
	["192.0.0.0", 24],
	["192.0.2.0", 24],
	["192.88.99.0", 24],
	["192.168.0.0", 16],
	["198.18.0.0", 15],
	["198.51.100.0", 24],
	["203.0.113.0", 24],
	["224.0.0.0", 4],
	["240.0.0.0", 4],
] as const;

/**
 * Public IPv6 addresses are all in 2000::/3. Some networks in there carry IPv4 addresses or are for
 * documentation.
 */
const PUBLIC_IPV6 = ["2000::", 3] as const;
const SPECIAL_IPV6 = [
	["2001::", 23],
	["2001:db8::", 32],
	["2002::", 16],
	["3fff::", 20],
] as const;

const special = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) {
	special.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of SPECIAL_IPV6) {
	special.addSubnet(network, bits, "ipv6");
}
const publicIpv6 = new BlockList();
publicIpv6.addSubnet(...PUBLIC_IPV6, "ipv6");

/** Decides which addresses the service may send requests to. */
export interface OutgoingRule {
	isAllowed: (address: string) => boolean;
	/** The DNS servers to ask, by default those of the system. */
	dnsServers?: readonly string[];
}

/** Makes the rule: public addresses, and the addresses and ranges of ASSAY_OUTGOING_NETWORKS. */
export function makeOutgoingRule(allowed: readonly string[]): OutgoingRule {
	const list = new BlockList();
	for (const range of allowed) {
		const [network = "", bits] = range.split("/");
		const family = isIP(network) === 6 ? "ipv6" : "ipv4";
		if (bits === undefined) list.addAddress(network, family);
		else list.addSubnet(network, Number(bits), family);
	}
	return {
		isAllowed: (address) => {
			const family = isIP(address) === 6 ? "ipv6" : "ipv4";
			if (list.check(address, family)) return true;
			return (
				!special.check(address, family) &&
				(family === "ipv4" || publicIpv6.check(address, family))
			);
		},
	};
}

/**
 * Throws bad_request for the field if the web address in it names a host that the rule forbids. A
 * name in DNS may lead elsewhere tomorrow, so it is resolved and checked for each request only.
 */
export function requireAllowedHost(
	field: string,
	webAddress: string,
	rule: OutgoingRule | undefined,
): void {
	const { hostname } = new URL(webAddress);
	const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
	const isLocal = /(^|\.)localhost$/.test(host);
	const addresses = isLocal ? ["127.0.0.1"] : isIP(host) ? [host] : [];
	if (!rule || addresses.length === 0 || addresses.some(rule.isAllowed)) return;
	const message = `must be a public address, which ${host} is not; the operator can allow others with ASSAY_OUTGOING_NETWORKS`;
	throw badFields([{ field, message }]);
}

/**
 * Resolves a host and returns one of its addresses. Throws if one of the addresses is not allowed,
 * because a name that leads to a public and a private address is an attempt to get in. The caller
 * connects to the returned address, so the name cannot lead elsewhere a moment later.
 */
export async function resolveAllowed(
	hostname: string,
	{ isAllowed, dnsServers }: OutgoingRule,
): Promise<{ address: string; family: 4 | 6 }> {
	const host = hostname.replace(/^\[(.*)\]$/, "$1");
	const found = await resolveHost(host, dnsServers);
	const forbidden = found.find((address) => !isAllowed(address));
	if (forbidden) {
		throw new Error(
			`${host === forbidden ? host : `${host} leads to ${forbidden}, which`} is not a public address; the operator can allow it with ASSAY_OUTGOING_NETWORKS`,
		);
	}
	const [address] = found;
	if (!address) throw new Error(`${host} has no address`);
	return { address, family: isIP(address) as 4 | 6 };
}
