import { expect, test } from "vitest";
import {
	checkFirewall,
	FIREWALL_UNITS,
} from "../../agent/checks/linux/firewall.ts";
import type { CommandResult } from "../../agent/host.ts";
import { recordedHost } from "./recorded-host.ts";
import { linux, type UnitState, units } from "./recordings/linux.ts";

const NFT = "nft -j list ruleset";

const check = (
	commands: Record<string, string | Partial<CommandResult>>,
	files: Record<string, string> = IPV6,
	states: Record<string, UnitState> = {},
	isPrivileged = true,
) =>
	checkFirewall(
		recordedHost(
			linux({
				isPrivileged,
				files,
				commands: { ...units(FIREWALL_UNITS, states), ...commands },
			}),
		),
	);

const IPV6 = {
	"/proc/net/if_inet6":
		"00000000000000000000000000000001 01 80 10 80       lo\nfe80000000000000021122fffe334455 02 40 20 80     eth0\n",
};
const IPV4_ONLY = {
	"/proc/net/if_inet6":
		"00000000000000000000000000000001 01 80 10 80       lo\n",
};

/**
 * Returns a ruleset in the format of `nft -j`. Each chain has rules, which consist of expressions.
 */
function nft(
	...chains: {
		family: string;
		table?: string;
		name: string;
		hook?: string;
		policy?: string;
		rules?: object[][];
	}[]
): string {
	const entries: object[] = [
		{
			metainfo: {
				version: "1.0.6",
				release_name: "Lester Gooch #5",
				json_schema_version: 1,
			},
		},
	];
	for (const {
		family,
		table = "filter",
		name,
		hook,
		policy = "accept",
		rules = [],
	} of chains) {
		entries.push({ table: { family, name: table, handle: 1 } });
		const base = hook && { type: "filter", hook, prio: 0, policy };
		entries.push({ chain: { family, table, name, handle: 1, ...base } });
		for (const expr of rules)
			entries.push({ rule: { family, table, chain: name, handle: 4, expr } });
	}
	return JSON.stringify({ nftables: entries });
}

const established = [
	{
		match: {
			op: "in",
			left: { ct: { key: "state" } },
			right: ["established", "related"],
		},
	},
	{ accept: null },
];
const loopback = [
	{ match: { op: "==", left: { meta: { key: "iifname" } }, right: "lo" } },
	{ accept: null },
];
const reject = [
	{ counter: { packets: 0, bytes: 0 } },
	{ reject: { type: "icmpx", expr: "admin-prohibited" } },
];
const jump = (target: string) => [{ jump: { target } }];

const BOTH = { ipv4_filtered: true, ipv6_filtered: true };

test.each([
	[
		"a policy that drops",
		nft({
			family: "inet",
			name: "input",
			hook: "input",
			policy: "drop",
			rules: [established, loopback],
		}),
		"PASS",
		{ engine: "nftables", ...BOTH },
	],
	[
		"a last rule that rejects",
		nft({
			family: "inet",
			name: "input",
			hook: "input",
			rules: [established, loopback, reject],
		}),
		"PASS",
		BOTH,
	],
	[
		"firewalld's chains, which end with a reject",
		nft(
			{
				family: "inet",
				table: "firewalld",
				name: "filter_IN_public",
				rules: [
					[
						{
							match: {
								op: "==",
								left: { payload: { protocol: "tcp", field: "dport" } },
								right: 22,
							},
						},
						{ accept: null },
					],
				],
			},
			{
				family: "inet",
				table: "firewalld",
				name: "filter_INPUT_ZONES",
				rules: [[{ goto: { target: "filter_IN_public" } }]],
			},
			{
				family: "inet",
				table: "firewalld",
				name: "filter_INPUT",
				hook: "input",
				rules: [established, loopback, jump("filter_INPUT_ZONES"), reject],
			},
		),
		"PASS",
		BOTH,
	],
	[
		"firewalld's zone that trusts everyone",
		nft(
			{
				family: "inet",
				table: "firewalld",
				name: "filter_IN_trusted",
				rules: [[{ accept: null }]],
			},
			{
				family: "inet",
				table: "firewalld",
				name: "filter_INPUT_ZONES",
				rules: [[{ goto: { target: "filter_IN_trusted" } }]],
			},
			{
				family: "inet",
				table: "firewalld",
				name: "filter_INPUT",
				hook: "input",
				rules: [established, loopback, jump("filter_INPUT_ZONES"), reject],
			},
		),
		"FAIL",
		{ ipv4_filtered: false },
	],
	[
		"rules for IPv4 alone",
		nft({ family: "ip", name: "input", hook: "input", policy: "drop" }),
		"FAIL",
		{ ipv4_filtered: true, ipv6_filtered: false },
	],
	[
		"a policy that accepts",
		nft({
			family: "inet",
			name: "input",
			hook: "input",
			rules: [
				established,
				[{ match: { op: "==", left: {}, right: 23 } }, { drop: null }],
			],
		}),
		"FAIL",
		{},
	],
	[
		"an accept of everything before the drop",
		nft({
			family: "inet",
			name: "input",
			hook: "input",
			policy: "drop",
			rules: [[{ counter: null }, { accept: null }]],
		}),
		"FAIL",
		{},
	],
	["no tables", nft(), "FAIL", { engine: "none", ipv4_filtered: false }],
	[
		"a container engine's chains, which do not guard the host",
		nft(
			{ family: "ip", name: "DOCKER-USER" },
			{
				family: "ip",
				name: "FORWARD",
				hook: "forward",
				policy: "drop",
				rules: [jump("DOCKER-USER")],
			},
		),
		"FAIL",
		{ ipv4_filtered: false },
	],
] as const)("nftables with %s", async (_, ruleset, status, evidence) => {
	expect(await check({ [NFT]: ruleset })).toMatchObject({ status, evidence });
});

test("without IPv6 on any interface, rules for IPv4 are enough", async () => {
	const ruleset = nft({
		family: "ip",
		name: "input",
		hook: "input",
		policy: "drop",
	});
	expect(await check({ [NFT]: ruleset }, IPV4_ONLY)).toEqual({
		status: "PASS",
		evidence: { engine: "nftables", ipv4_filtered: true },
	});
});

const UFW =
	"-P INPUT DROP\n-P FORWARD DROP\n-P OUTPUT ACCEPT\n-N ufw-after-input\n-N ufw-before-input\n-N ufw-reject-input\n-A INPUT -j ufw-before-input\n-A INPUT -j ufw-after-input\n-A INPUT -j ufw-reject-input\n-A ufw-after-input -p udp -m udp --dport 137 -j ACCEPT\n-A ufw-before-input -i lo -j ACCEPT\n-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n";
const OPEN = "-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n";
const RHEL =
	'-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT\n-A INPUT -m comment --comment "the rest" -j REJECT --reject-with icmp-host-prohibited\n';
const KUBERNETES =
	'-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n-N KUBE-FIREWALL\n-A INPUT -j KUBE-FIREWALL\n-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP\n';

test.each([
	[
		"ufw's",
		UFW,
		UFW,
		{ "ufw.service": "running" },
		"PASS",
		{ engine: "ufw", ...BOTH },
	],
	["a last reject", RHEL, RHEL, {}, "PASS", { engine: "iptables", ...BOTH }],
	[
		"IPv4 alone",
		UFW,
		OPEN,
		{},
		"FAIL",
		{ ipv4_filtered: true, ipv6_filtered: false },
	],
	[
		"nothing set",
		OPEN,
		OPEN,
		{ "ufw.service": "running" },
		"FAIL",
		{ engine: "ufw", ipv4_filtered: false },
	],
	["Kubernetes' own", KUBERNETES, OPEN, {}, "FAIL", { ipv4_filtered: false }],
	[
		"only an accept of all",
		`${UFW}-I x\n`,
		UFW,
		{},
		"UNKNOWN",
		{ ipv4_filtered: "unknown" },
	],
] as const)("iptables with %s", async (_, v4, v6, states, status, evidence) => {
	const outcome = await check(
		{ "iptables -S": v4, "ip6tables -S": v6 },
		IPV6,
		states,
	);
	expect(outcome).toMatchObject({ status, evidence });
});

test("rules of the older iptables count if nftables has none", async () => {
	const outcome = await check(
		{
			[NFT]: nft(),
			"iptables -S": OPEN,
			"ip6tables -S": OPEN,
			"iptables-legacy -S": UFW,
			"ip6tables-legacy -S": UFW,
		},
		{
			...IPV6,
			"/proc/net/ip_tables_names": "filter\n",
			"/proc/net/ip6_tables_names": "filter\n",
		},
	);
	expect(outcome).toMatchObject({
		status: "PASS",
		evidence: { engine: "iptables" },
	});
});

test("what a module of iptables does is not guessed from the output of nft", async () => {
	const target = [
		{ xt: { type: "match", name: "comment" } },
		{ counter: {} },
		{ xt: { type: "target", name: "REJECT" } },
	];
	const ruleset = nft({
		family: "ip",
		name: "INPUT",
		hook: "input",
		rules: [target],
	});
	expect((await check({ [NFT]: ruleset }, IPV4_ONLY)).status).toBe("UNKNOWN");
	expect(
		(await check({ [NFT]: ruleset, "iptables -S": RHEL }, IPV4_ONLY)).status,
	).toBe("PASS");
});

test.each([
	[
		"nft may not be asked",
		{ [NFT]: { exitCode: 1, stderr: "Operation not permitted" } },
		"command_failed",
	],
	["nft takes too long", { [NFT]: { ended: "timed_out" } }, "timed_out"],
	[
		"nft says something else",
		{ [NFT]: "table inet filter {" },
		"unrecognized_output",
	],
] as const)("unknown when %s", async (_, commands, reason) => {
	expect(await check(commands)).toMatchObject({
		status: "UNKNOWN",
		evidence: { reason },
	});
});

test("a machine without a program that could set rules has none", async () => {
	expect(await check({})).toMatchObject({
		status: "FAIL",
		evidence: { engine: "none" },
	});
	const loaded = { ...IPV6, "/proc/net/ip_tables_names": "filter\n" };
	expect((await check({}, loaded)).status).toBe("UNKNOWN");
});

const UFW_FILES = {
	...IPV6,
	"/etc/ufw/ufw.conf": "# /etc/ufw/ufw.conf\nENABLED=yes\nLOGLEVEL=low\n",
	"/etc/default/ufw":
		'IPV6=yes\nDEFAULT_INPUT_POLICY="DROP"\nDEFAULT_OUTPUT_POLICY="ACCEPT"\n',
};

test.each([
	["ufw that is on", UFW_FILES, { "ufw.service": "running" }, {}, "PASS"],
	[
		"ufw that is off",
		{ ...UFW_FILES, "/etc/ufw/ufw.conf": "ENABLED=no\n" },
		{ "ufw.service": "running" },
		{},
		"UNKNOWN",
	],
	[
		"ufw that leaves out IPv6",
		{
			...UFW_FILES,
			"/etc/default/ufw": 'IPV6=no\nDEFAULT_INPUT_POLICY="DROP"\n',
		},
		{ "ufw.service": "running" },
		{},
		"UNKNOWN",
	],
	[
		"firewalld",
		IPV6,
		{ "firewalld.service": "running" },
		{ "firewall-cmd --get-default-zone": "public\n" },
		"PASS",
	],
	[
		"firewalld that trusts everyone",
		IPV6,
		{ "firewalld.service": "running" },
		{ "firewall-cmd --get-default-zone": "trusted\n" },
		"FAIL",
	],
	[
		"firewalld that does not answer",
		IPV6,
		{ "firewalld.service": "running" },
		{},
		"UNKNOWN",
	],
	[
		"rules that only root may see",
		IPV6,
		{ "nftables.service": "running" },
		{},
		"UNKNOWN",
	],
] as const)("without root's rights: %s", async (_, files, states, commands, status) => {
	expect((await check(commands, files, states, false)).status).toBe(status);
});
