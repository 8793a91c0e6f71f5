/**
 * Rules for the packet filter and the verdict that they must have. The output that real programs
 * printed for them is in firewall-outputs.ndjson. The device has the interfaces eth0 and wlan0.
 */
export interface FirewallCase {
	name: string;
	/** A script for `nft -f`, or the arguments of iptables and ip6tables, one call a line. */
	nft?: string;
	iptables?: string;
	/** Other arguments for ip6tables. Without them it gets the same as iptables. */
	ip6tables?: string;
	status: "PASS" | "FAIL" | "UNKNOWN";
	evidence?: Record<string, unknown>;
}

const input = (rules: string, policy = "drop", more = "") => `
table inet filter {
	${more}
	chain input {
		type filter hook input priority filter; policy ${policy};
		ct state established,related accept
		iifname "lo" accept
		${rules}
	}
}`;

const BOTH = { ipv4_filtered: true, ipv6_filtered: true };
const NEITHER = { ipv4_filtered: false, ipv6_filtered: false };

export const FIREWALL_CASES: FirewallCase[] = [
	{
		name: "a policy that drops",
		nft: input(""),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "a policy that drops, with open services",
		nft: input(`tcp dport { 22, 80, 443 } accept
			udp dport 5353 ip daddr 224.0.0.251 accept
			ip protocol icmp accept
			icmpv6 type { nd-neighbor-solicit, nd-router-advert } accept
			tcp dport 1714-1764 accept`),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "an accept of new connections",
		nft: input("ct state { new, established, related } accept"),
		status: "FAIL",
		evidence: NEITHER,
	},
	{
		name: "an accept of TCP and UDP",
		nft: input("meta l4proto { tcp, udp } accept"),
		status: "FAIL",
		evidence: NEITHER,
	},
	{
		name: "an accept of TCP alone",
		nft: input("meta l4proto tcp accept"),
		status: "FAIL",
		evidence: { open_packets: ["tcp_1009", "tcp_21211"] },
	},
	{
		name: "an accept of every IPv4 address",
		nft: input("ip saddr 0.0.0.0/0 accept"),
		status: "FAIL",
		evidence: { ipv4_filtered: false, ipv6_filtered: true },
	},
	{
		name: "an accept of two halves of the internet",
		nft: input("ip saddr { 0.0.0.0/1, 128.0.0.0/1 } accept"),
		status: "FAIL",
		evidence: { ipv4_filtered: false, ipv6_filtered: true },
	},
	{
		name: "an accept of every port",
		nft: input("tcp dport 0-65535 accept"),
		status: "FAIL",
	},
	{
		name: "an accept of every port above 1023",
		nft: input("udp dport 1024-65535 accept"),
		status: "FAIL",
		evidence: { open_packets: ["udp_21211"] },
	},
	{
		name: "an accept of the wireless interface",
		nft: input('iifname "wlan0" accept'),
		status: "FAIL",
	},
	{
		name: "an accept of interfaces by a pattern",
		nft: input('iifname "wl*" accept'),
		status: "FAIL",
	},
	{
		name: "an accept of an interface that the device does not have",
		nft: input('iifname "wg0" accept'),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "an accept of the local network",
		nft: input("ip saddr 192.168.0.0/16 accept"),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "a reject of new connections",
		nft: input("ct state new reject", "accept"),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "a drop on all interfaces but the loopback",
		nft: input("iif != lo drop", "accept"),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "a drop on one of two interfaces",
		nft: input('iifname "eth0" drop', "accept"),
		status: "FAIL",
	},
	{
		name: "a drop on each interface by a verdict map",
		nft: input('iifname vmap { "eth0" : drop, "wlan0" : drop }', "accept"),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "filtering in prerouting",
		nft: `table inet early {
	chain pre {
		type filter hook prerouting priority raw; policy accept;
		iifname "lo" accept
		ct state established,related accept
		fib daddr type local meta l4proto { tcp, udp } drop
	}
}`,
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "filtering at the ingress hook of every interface",
		nft: `table netdev early {
	chain eth { type filter hook ingress device "eth0" priority 0; policy drop; arp operation request accept; }
	chain wlan { type filter hook ingress device "wlan0" priority 0; policy drop; }
}`,
		status: "PASS",
	},
	{
		name: "a limit on the rate of accepted packets",
		nft: input("ct state new limit rate 10/second accept"),
		status: "FAIL",
	},
	{
		name: "a limit above which packets are dropped",
		nft: input("ct state new limit rate over 10/second drop", "accept"),
		status: "FAIL",
	},
	{
		name: "a list of blocked addresses",
		nft: input(
			"ip saddr @blocked drop",
			"accept",
			"set blocked { type ipv4_addr; flags interval; elements = { 198.51.100.0/24 } }",
		),
		status: "FAIL",
		evidence: NEITHER,
	},
	{
		name: "a list of allowed addresses",
		nft: input(
			"ip saddr @allowed accept",
			"drop",
			"set allowed { type ipv4_addr; flags interval; elements = { 198.51.100.0/24 } }",
		),
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "a list of allowed addresses with everything in it",
		nft: input(
			"ip saddr @allowed accept",
			"drop",
			"set allowed { type ipv4_addr; flags interval; elements = { 0.0.0.0/1, 128.0.0.0/1 } }",
		),
		status: "FAIL",
	},
	{
		name: "a chain of another zone",
		nft: `table inet firewalld {
	chain trusted { accept; }
	chain public { tcp dport 22 accept; reject with icmpx admin-prohibited; }
	chain zones { iifname "wlan0" goto trusted; goto public; }
	chain input {
		type filter hook input priority 10; policy accept;
		ct state vmap { established : accept, related : accept, invalid : drop }
		iifname "lo" accept
		jump zones
		reject
	}
}`,
		status: "FAIL",
	},
	{
		name: "a chain that returns",
		nft: input(
			"jump services",
			"drop",
			"chain services { tcp dport 22 accept; return; accept; }",
		),
		status: "PASS",
	},
	{
		name: "the SYN flag of TCP",
		nft: input(
			"tcp flags & (fin|syn|rst|ack) == syn reject with tcp reset\nmeta l4proto udp drop",
			"accept",
		),
		status: "PASS",
	},
	{
		name: "a mark that another rule may set",
		nft: input("meta mark 0x1 accept"),
		status: "UNKNOWN",
		evidence: { reason: "rules_not_decidable" },
	},
	{
		name: "rules for IPv4 alone",
		nft: "table ip filter { chain input { type filter hook input priority 0; policy drop; }; }",
		status: "FAIL",
		evidence: { ipv4_filtered: true, ipv6_filtered: false },
	},
	{
		name: "a container engine's chains",
		nft: "table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; }; }",
		status: "FAIL",
	},
	{ name: "an empty ruleset", nft: "flush ruleset", status: "FAIL" },
	{
		name: "a last reject",
		iptables: `-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT
-A INPUT -i lo -j ACCEPT
-A INPUT -p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT
-A INPUT -m comment --comment "the -j rest" -j REJECT`,
		status: "PASS",
		evidence: { engine: "iptables", ...BOTH },
	},
	{
		name: "an accept of new connections by conntrack",
		iptables: `-P INPUT DROP
-A INPUT -m conntrack --ctstate NEW,RELATED,ESTABLISHED -j ACCEPT`,
		status: "FAIL",
		evidence: NEITHER,
	},
	{
		name: "an accept of TCP and one of UDP",
		iptables:
			"-P INPUT DROP\n-A INPUT -p tcp -j ACCEPT\n-A INPUT -p udp -j ACCEPT",
		status: "FAIL",
	},
	{
		name: "an accept of ports 0 to 65535",
		iptables: "-P INPUT DROP\n-A INPUT -p tcp --dport 0:65535 -j ACCEPT",
		status: "FAIL",
	},
	{
		name: "an accept of several ports",
		iptables:
			"-P INPUT DROP\n-A INPUT -p tcp -m multiport --dports 22,80,8000:9000 -j ACCEPT",
		status: "PASS",
	},
	{
		name: "an accept on wlan0",
		iptables: "-P INPUT DROP\n-A INPUT -i wlan0 -j ACCEPT",
		status: "FAIL",
	},
	{
		name: "a drop on all but the loopback",
		iptables: "-A INPUT ! -i lo -j DROP",
		status: "PASS",
		evidence: BOTH,
	},
	{
		name: "a drop on eth+ and wlan+",
		iptables: "-A INPUT -i eth+ -j DROP\n-A INPUT -i wlan+ -j DROP",
		status: "PASS",
	},
	{
		name: "a drop in raw's PREROUTING",
		iptables:
			"-t raw -A PREROUTING ! -i lo -p tcp --syn -j DROP\n-t raw -A PREROUTING ! -i lo -p udp -j DROP",
		status: "PASS",
	},
	{
		name: "a logged packet that is dropped",
		iptables:
			"-A INPUT -i lo -j ACCEPT\n-A INPUT -m limit --limit 3/min -j LOG\n-A INPUT -j DROP",
		status: "PASS",
	},
	{
		name: "a drop of those who knock too often",
		iptables:
			"-A INPUT -m conntrack --ctstate NEW -m recent --set --name knock\n-A INPUT -m conntrack --ctstate NEW -m recent --update --seconds 60 --hitcount 4 --name knock -j DROP",
		status: "FAIL",
	},
	{
		name: "chains that jump and return",
		iptables:
			"-P INPUT DROP\n-N own\n-A own -s 10.0.0.0/8 -j RETURN\n-A own -j ACCEPT\n-A INPUT -j own",
		ip6tables: "-P INPUT DROP",
		status: "FAIL",
		evidence: { ipv4_filtered: false, ipv6_filtered: true },
	},
	{
		name: "a condition on the mark",
		iptables: "-P INPUT DROP\n-A INPUT -m mark --mark 0x1 -j ACCEPT",
		status: "UNKNOWN",
		evidence: { reason: "rules_not_decidable" },
	},
	{
		name: "no policy for IPv6",
		iptables: "-P INPUT DROP",
		ip6tables: "-P INPUT ACCEPT",
		status: "FAIL",
		evidence: { ipv4_filtered: true, ipv6_filtered: false },
	},
];
