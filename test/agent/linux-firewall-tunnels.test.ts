import { expect, test } from "vitest";
import type { CommandResult } from "../../agent/host.ts";
import {
	BOTH,
	checkRules as check,
	IPV6,
	NFT,
	nft,
	saved,
	UFW,
	zones,
} from "./linux-firewall-parts.ts";

/** Files about interfaces: ordinary ones, and tunnels of WireGuard and of TUN. */
const interfaces = (kinds: Record<string, "outer" | "wireguard" | "tun">) => ({
	...IPV6,
	"/proc/net/dev": `Inter-|   Receive\n face |bytes    packets\n${["lo", ...Object.keys(kinds)].map((name) => `${name}: 90 1 0 0\n`).join("")}`,
	...Object.fromEntries(
		Object.entries(kinds).map(([name, kind]) => {
			const folder = `/sys/class/net/${name}`;
			const about = `INTERFACE=${name}\nIFINDEX=4\n`;
			return kind === "tun"
				? [`${folder}/tun_flags`, "0x1001\n"]
				: [
						`${folder}/uevent`,
						kind === "wireguard" ? `DEVTYPE=wireguard\n${about}` : about,
					];
		}),
	),
});
/** The rules of ufw, and those with which Tailscale begins the chain INPUT. */
const TAILSCALE = saved(
	"-P INPUT DROP\n-P FORWARD DROP\n-P OUTPUT ACCEPT\n-N ts-input\n-N ufw-before-input\n-A INPUT -j ts-input\n-A INPUT -j ufw-before-input\n-A ts-input -s 100.101.102.103/32 -i lo -j ACCEPT\n-A ts-input -s 100.115.92.0/23 ! -i tailscale0 -j RETURN\n-A ts-input -s 100.64.0.0/10 ! -i tailscale0 -j DROP\n-A ts-input -i tailscale0 -j ACCEPT\n-A ts-input -p udp -m udp --dport 41641 -j ACCEPT\n-A ufw-before-input -i lo -j ACCEPT\n-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n",
);
const openTo = (name: string) =>
	saved(
		`-P INPUT DROP\n-P FORWARD DROP\n-P OUTPUT ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -i ${name} -j ACCEPT\n`,
	);
const route = (way: string | Partial<CommandResult>) => ({
	"ip -4 route get 93.184.216.34":
		typeof way === "string"
			? `93.184.216.34 via 192.0.2.1 dev ${way} src 192.0.2.7 uid 0 \n    cache \n`
			: way,
	"ip -6 route get 2606:2800:220:1::34": {
		exitCode: 2,
		stderr: "RTNETLINK answers: Network is unreachable\n",
	},
});

test.each([
	[
		"Tailscale's own rules pass",
		TAILSCALE,
		{ eth0: "outer", tailscale0: "tun" },
		route("eth0"),
		"PASS",
		{ engine: "ufw", ...BOTH, open_tunnels: ["tailscale0"] },
	],
	[
		"an open WireGuard passes",
		openTo("wg0"),
		{ eth0: "outer", wg0: "wireguard" },
		route("eth0"),
		"PASS",
		{ ...BOTH, open_tunnels: ["wg0"] },
	],
	[
		"an exit node of Tailscale decides itself who gets in",
		TAILSCALE,
		{ eth0: "outer", tailscale0: "tun" },
		route("tailscale0"),
		"UNKNOWN",
		{ reason: "vpn_not_filtered", open_tunnels: ["tailscale0"] },
	],
	[
		"a way to the internet that nobody knows proves nothing",
		openTo("wg0"),
		{ eth0: "outer", wg0: "wireguard" },
		{},
		"UNKNOWN",
		{ reason: "vpn_not_filtered" },
	],
	[
		"a device without a way to the internet passes",
		openTo("wg0"),
		{ eth0: "outer", wg0: "wireguard" },
		route({ exitCode: 2, stderr: "RTNETLINK answers: Network is unreachable" }),
		"PASS",
		BOTH,
	],
	[
		"an interface that is no tunnel fails, and is named",
		openTo("wlan0"),
		{ eth0: "outer", wlan0: "outer", wg0: "wireguard" },
		route("eth0"),
		"FAIL",
		{ ipv4_filtered: false, open_interfaces: ["wlan0"] },
	],
	[
		"a TAP device is no tunnel, and its chosen name stays on the device",
		openTo("ada"),
		{ eth0: "outer", ada: "outer" },
		route("eth0"),
		"FAIL",
		{ open_interfaces: ["other"] },
	],
] as const)("%s", async (_, rules, kinds, ways, status, evidence) => {
	const files = {
		...interfaces(kinds),
		"/sys/class/net/ada/tun_flags": "0x1002\n",
	};
	const outcome = await check(
		{ "iptables-save": rules, "ip6tables-save": rules, ...ways },
		files,
		{ "ufw.service": "running" },
	);
	expect(outcome).toMatchObject({ status, evidence });
	expect(JSON.stringify(outcome)).not.toContain("ada");
});

test("a tunnel that the rules keep closed may carry all traffic", async () => {
	const outcome = await check(
		{ "iptables-save": UFW, "ip6tables-save": UFW, ...route("wg0") },
		interfaces({ eth0: "outer", wg0: "wireguard" }),
	);
	expect(outcome).toEqual({
		status: "PASS",
		evidence: { engine: "iptables", ...BOTH },
	});
});

test.each([
	["only has a tunnel does not count", "wg0", "", "PASS"],
	["has another interface too counts", "wg0 eth1", "", "FAIL"],
	["has sources too counts", "wg0", "  sources: 192.0.2.0/24\n", "FAIL"],
])("a trusted zone of firewalld that %s", async (_, members, more, status) => {
	const drop = { family: "inet", name: "input", hook: "input", policy: "drop" };
	const outcome = await check(
		{
			[NFT]: nft(drop),
			...zones({ public: "default", trusted: "ACCEPT" }),
			"firewall-cmd --get-active-zones": `public (default)\n  interfaces: eth0\ntrusted\n  interfaces: ${members}\n${more}`,
		},
		interfaces({ eth0: "outer", eth1: "outer", wg0: "wireguard" }),
		{ "firewalld.service": "running" },
	);
	expect(outcome.status).toBe(status);
});
