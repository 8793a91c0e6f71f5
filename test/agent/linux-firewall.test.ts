import { expect, test } from "vitest";
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

const NFT_WITH_SETS = "nft -j list ruleset";

const IPV4_ONLY = {
	"/proc/net/if_inet6":
		"00000000000000000000000000000001 01 80 10 80       lo\n",
};

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

const OPEN = saved("-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n");
const RHEL = saved(
	'-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT\n-A INPUT -m comment --comment "the rest" -j REJECT --reject-with icmp-host-prohibited\n',
);
const KUBERNETES = saved(
	'-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n-N KUBE-FIREWALL\n-A INPUT -j KUBE-FIREWALL\n-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP\n',
);

test.each([
	[
		"ufw's",
		UFW,
		UFW,
		{ "ufw.service": "running" },
		"PASS",
		{ engine: "ufw", ...BOTH },
	],
	[
		"a final rule that rejects",
		RHEL,
		RHEL,
		{},
		"PASS",
		{ engine: "iptables", ...BOTH },
	],
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
		"a text that iptables does not print",
		`${UFW}-I x\n`,
		UFW,
		{},
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
] as const)("iptables with %s", async (_, v4, v6, states, status, evidence) => {
	const outcome = await check(
		{ "iptables-save": v4, "ip6tables-save": v6 },
		IPV6,
		states,
	);
	expect(outcome).toMatchObject({ status, evidence });
});

test("rules of the older iptables count if nftables has none", async () => {
	const outcome = await check(
		{
			[NFT]: nft(),
			"iptables-save": OPEN,
			"ip6tables-save": OPEN,
			"iptables-legacy-save": UFW,
			"ip6tables-legacy-save": UFW,
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
		(
			await check(
				{
					[NFT]: ruleset,
					"iptables-save": RHEL.replace("v1.8.9", "v1.8.9 (nf_tables)"),
				},
				IPV4_ONLY,
			)
		).status,
	).toBe("PASS");
});

test.each([
	[
		"nft may not be run",
		{ [NFT]: { exitCode: 1, stderr: "Operation not permitted" } },
		"command_failed",
	],
	["nft takes too long", { [NFT]: { ended: "timed_out" } }, "timed_out"],
	[
		"nft prints something else",
		{ [NFT]: "table inet filter {" },
		"unrecognized_output",
	],
] as const)("the result is UNKNOWN when %s", async (_, commands, reason) => {
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

test("a zone of firewalld that trusts some sources fails although other packets are kept out", async () => {
	const commands = {
		[NFT]: nft({
			family: "inet",
			name: "input",
			hook: "input",
			policy: "drop",
		}),
		...zones({ public: "default", home: "ACCEPT" }),
	};
	expect(
		await check(commands, IPV6, { "firewalld.service": "running" }),
	).toMatchObject({
		status: "FAIL",
		evidence: { engine: "firewalld", open_zone: "home" },
	});
});

test("a set too large to print does not hide the other rules", async () => {
	const blocked = {
		match: {
			op: "==",
			left: { payload: { protocol: "ip", field: "saddr" } },
			right: "@blocked",
		},
	};
	const ruleset = nft({
		family: "inet",
		name: "input",
		hook: "input",
		policy: "drop",
		rules: [[blocked, { drop: null }]],
	});
	const cutOff = `${ruleset.slice(0, -5)},{"elem":["192.0.2.1",`;
	expect(
		await check({ [NFT]: ruleset, [NFT_WITH_SETS]: cutOff }),
	).toMatchObject({ status: "PASS", evidence: BOTH });
});

test("an nft without the option -t is asked without it", async () => {
	const ruleset = nft({
		family: "inet",
		name: "input",
		hook: "input",
		policy: "drop",
	});
	const outcome = await check({
		[NFT]: { exitCode: 1, stderr: "nft: invalid option -- 't'" },
		[NFT_WITH_SETS]: ruleset,
	});
	expect(outcome.status).toBe("PASS");
});

const UFW_FILES = {
	...IPV6,
	"/etc/ufw/ufw.conf": "# /etc/ufw/ufw.conf\nENABLED=yes\nLOGLEVEL=low\n",
	"/etc/default/ufw":
		'IPV6=yes\nDEFAULT_INPUT_POLICY="DROP"\nDEFAULT_OUTPUT_POLICY="ACCEPT"\n',
};

test.each([
	[
		"ufw, whose own rules only root may read",
		UFW_FILES,
		{ "ufw.service": "running" },
		{},
		"UNKNOWN",
	],
	[
		"firewalld, whose zone may open a range of ports",
		IPV6,
		{ "firewalld.service": "running" },
		zones({ FedoraWorkstation: "default" }),
		"UNKNOWN",
	],
	[
		"firewalld whose second active zone trusts everyone",
		IPV6,
		{ "firewalld.service": "running" },
		zones({ public: "default", trusted: "ACCEPT" }),
		"FAIL",
	],
	[
		"firewalld with a zone for containers",
		IPV6,
		{ "firewalld.service": "running" },
		zones({ public: "%%REJECT%%", docker: "ACCEPT" }),
		"UNKNOWN",
	],
	[
		"firewalld that trusts everyone",
		IPV6,
		{ "firewalld.service": "running" },
		zones({ trusted: "ACCEPT" }),
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
		"rules that only root may read",
		IPV6,
		{ "nftables.service": "running" },
		{},
		"UNKNOWN",
	],
] as const)("without root's rights: %s", async (_, files, states, commands, status) => {
	expect((await check(commands, files, states, false)).status).toBe(status);
});
