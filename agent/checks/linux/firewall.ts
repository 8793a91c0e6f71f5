import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { type FamilyVerdict, judgeRules } from "./firewall-rules.ts";
import { findOpenZone } from "./firewalld-zones.ts";
import {
	findInterfaces,
	findWayToInternet,
	interfaceWords,
} from "./interfaces.ts";
import type { Family } from "./packet.ts";
import { readText } from "./read-text.ts";
import { findServices, type Services } from "./services.ts";

export const FIREWALL_UNITS = [
	"ufw.service",
	"firewalld.service",
	"nftables.service",
	"iptables.service",
];

/**
 * Returns PASS if the kernel keeps out incoming packets that no rule allows, over IPv4 and, if the
 * device uses it, over IPv6. This is the default-deny rule of the CIS benchmarks. The check follows
 * the rules for a new TCP and a new UDP packet from the internet to port 1009 and to port 21211, on
 * which no common service listens, through every interface except the loopback and the bridges to
 * the device's own containers and virtual machines. The packets must be dropped or rejected, no
 * matter at which hook and by which program's rules. A packet whose verdict cannot be told, for
 * example because the rules ask a program, makes the result UNKNOWN.
 *
 * The members of a VPN are no strangers, so the rules may let in everything that arrives through its
 * tunnel. If the tunnel also carries the traffic with the internet, the other end of the VPN decides
 * who gets in, and the result is UNKNOWN.
 *
 * Each active zone of firewalld counts too, because a zone may accept the packets of some sources
 * only. Without root, the check can only see such a zone, and is UNKNOWN otherwise.
 */
export async function checkFirewall(host: Host): Promise<CheckOutcome> {
	const services = await findServices(host, FIREWALL_UNITS);
	if (!host.isPrivileged) return judgeServices(host, services);

	const hasIpv6 = await usesIpv6(host);
	const families = hasIpv6 ? (["ipv4", "ipv6"] as const) : (["ipv4"] as const);
	const interfaces = await findInterfaces(host);
	const verdicts = await judgeRules(host, families, interfaces);
	if (typeof verdicts === "string") return unknown(verdicts);
	const running = [...(services ?? [])].find(
		([, state]) => state.isActive,
	)?.[0];
	const engine =
		running?.replace(".service", "") ??
		verdicts.find((one) => one.engine !== "none")?.engine ??
		"none";
	const filtered = verdicts.map(({ verdict }, index) => [
		`${families[index]}_filtered`,
		verdict === undefined ? "unknown" : verdict === "closed",
	]);
	const open = new Set(verdicts.flatMap((one) => one.open));
	const through = verdicts.flatMap((one) => one.openInterfaces);
	const tunnels = verdicts.flatMap((one) => one.openTunnels);
	const evidence = {
		engine,
		...Object.fromEntries(filtered),
		...(open.size > 0 && { open_packets: [...open].sort() }),
		...(through.length > 0 && { open_interfaces: interfaceWords(through) }),
		...(tunnels.length > 0 && { open_tunnels: interfaceWords(tunnels) }),
	};
	if (verdicts.some(({ verdict }) => verdict === "open")) return fail(evidence);
	const zone =
		engine === "firewalld"
			? await findOpenZone(host, interfaces.tunnels)
			: undefined;
	if (zone) return fail({ ...evidence, open_zone: zone });
	const unclear = verdicts.find(({ verdict }) => verdict === undefined);
	if (unclear) {
		return unknown(unclear.reason ?? "rules_not_decidable", evidence);
	}
	return (await mayStrangersUseTunnel(host, families, verdicts))
		? unknown("vpn_not_filtered", evidence)
		: pass(evidence);
}

/**
 * Returns true if an open tunnel of a VPN carries the traffic with the internet too, or if the agent
 * cannot tell whether it does.
 */
async function mayStrangersUseTunnel(
	host: Host,
	families: readonly Family[],
	verdicts: readonly FamilyVerdict[],
): Promise<boolean> {
	for (const [index, family] of families.entries()) {
		const open = verdicts[index]?.openTunnels ?? [];
		if (open.length === 0) continue;
		const way = await findWayToInternet(host, family);
		if (way === undefined || (way !== null && open.includes(way))) return true;
	}
	return false;
}

/** Returns true if an interface other than the loopback has an IPv6 address. */
async function usesIpv6(host: Host): Promise<boolean> {
	const addresses = await readText(host, "/proc/net/if_inet6");
	return (addresses ?? "")
		.split("\n")
		.some((line) => line.trim() !== "" && !/\slo$/.test(line.trim()));
}

/**
 * Judges without root. The rules of the kernel are not visible then, and they may let in what the
 * settings of ufw or a zone's target say nothing about, so the check never passes.
 */
async function judgeServices(
	host: Host,
	services: Services | undefined,
): Promise<CheckOutcome> {
	if (services?.get("firewalld.service")?.isActive) {
		const { tunnels } = await findInterfaces(host);
		const zone = await findOpenZone(host, tunnels);
		if (zone) return fail({ engine: "firewalld", open_zone: zone });
	}
	return unknown("needs_root");
}
