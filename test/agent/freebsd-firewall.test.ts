import { bsdTable } from "./freebsd-table.ts";
import { type Case, commands } from "./recorded-table.ts";

const noPf = {
	"pfctl -s info": {
		exitCode: 1,
		stderr: "pfctl: /dev/pf: No such file or directory\n",
	},
};
const ipfw = (rules: string) =>
	commands({
		...noPf,
		"sysctl -n net.inet.ip.fw.enable": "1\n",
		"ipfw list": rules,
	});
const pf = (rules: string) => commands({ "pfctl -s rules": rules });

bsdTable("FIREWALL_ENABLED", [
	[
		"pf that blocks by default",
		{},
		"PASS",
		{ engine: "pf", enabled: true, default_block: true },
	],
	[
		"pf whose last rule lets everything in",
		pf("block drop in all\npass in all flags S/SA keep state\n"),
		"FAIL",
		{ engine: "pf", enabled: true, default_block: false },
	],
	[
		"pf whose first rule blocks everything",
		pf("block return in log quick all\npass all flags S/SA keep state\n"),
		"PASS",
		{ engine: "pf", enabled: true, default_block: true },
	],
	[
		"pf without rules",
		pf(""),
		"FAIL",
		{ engine: "pf", enabled: true, default_block: false },
	],
	[
		"pf that blocks only some packets",
		pf(
			"block drop in quick on em0 from <bruteforce> to any\npass out all flags S/SA keep state\n",
		),
		"FAIL",
		{ engine: "pf", enabled: true, default_block: false },
	],
	[
		"pf with the rules of another program",
		pf('anchor "blacklistd/*" in on em0 all\n'),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
	],
	[
		"ipfw of the type workstation",
		ipfw(
			"00100 allow ip from any to any via lo0\n00200 deny ip from any to 127.0.0.0/8\n00600 check-state :default\n00900 allow tcp from me to any established\n65000 count ip from any to any\n65100 deny { tcp or udp } from any to any 135-139,445 in\n65535 deny ip from any to any\n",
		),
		"PASS",
		{ engine: "ipfw", enabled: true, default_block: true },
	],
	[
		"ipfw of the type open",
		ipfw(
			"00100 allow ip from any to any via lo0\n00200 deny ip from any to 127.0.0.0/8\n65000 allow ip from any to any\n65535 deny ip from any to any\n",
		),
		"FAIL",
		{ engine: "ipfw", enabled: true, default_block: false },
	],
	[
		"IPFilter that blocks",
		commands({
			...noPf,
			"ipf -V":
				"ipf: IP Filter: v5.1.2 (608)\nKernel: IP Filter: v5.1.2\nRunning: yes\nLog Flags: 0 = none set\nDefault: pass all, Logging: available\nActive list: 0\n",
			"ipfstat -i": "block in log all\npass in quick on lo0 all\n",
		}),
		"PASS",
		{ engine: "ipfilter", enabled: true, default_block: true },
	],
	...(
		[
			["all of TCP", "pass in proto tcp all flags S/SA keep state\n"],
			[
				"every port above 1023",
				"pass in on em0 proto udp from any to any port 1024:65535 keep state\n",
			],
			["one interface", "pass in quick on em0 all flags S/SA keep state\n"],
		] as const
	).map(
		([name, rule]): Case => [
			`pf that blocks by default and lets in ${name}`,
			pf(`block drop in all\n${rule}`),
			"FAIL",
			{ engine: "pf", enabled: true, default_block: false },
		],
	),
	[
		"pf that lets in services, ICMP, the local network and the loopback",
		pf(
			'block drop in log all label "default"\npass quick on lo0 all flags S/SA keep state\npass in on em0 inet proto tcp from any to (em0) port = ssh flags S/SA keep state\npass in inet proto icmp all icmp-type echoreq keep state\npass in on em0 inet from 192.168.1.0/24 to any flags S/SA keep state\npass in proto tcp from <friends> to any flags S/SA keep state\npass in proto udp from any to any port 60000:60100 keep state\n',
		),
		"PASS",
		{ engine: "pf", enabled: true, default_block: true },
	],
	[
		"pf that blocks on every interface that it names",
		pf("block drop in on em0 all\n"),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
	],
	[
		"pf that lets in IPv6, which the device may not use",
		pf("block drop in all\npass in inet6 all flags S/SA keep state\n"),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
	],
	[
		"pf that lets in marked packets",
		pf('block drop in all\npass in all flags S/SA keep state tagged "OK"\n'),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
	],
	[
		"ipfw that lets in all of TCP before its last rule",
		ipfw(
			"00100 allow ip from any to any via lo0\n00200 allow tcp from any to me setup keep-state :default\n65535 deny ip from any to any\n",
		),
		"FAIL",
		{ engine: "ipfw", enabled: true, default_block: false },
	],
	[
		"ipfw that lets in services and answers",
		ipfw(
			"00100 allow ip from any to any via lo0\n00200 check-state :default\n00300 allow tcp from any to any established\n00400 allow tcp from any to me 22 setup keep-state :default\n00500 allow udp from any to me dst-port 500,4500 in\n00600 allow icmp from any to any\n00700 allow ip from 192.168.1.0/24 to me\n00800 allow ip from me to any out keep-state :default\n65535 deny ip from any to any\n",
		),
		"PASS",
		{ engine: "ipfw", enabled: true, default_block: true },
	],
	[
		"ipfw with rules of a kind that is not followed",
		ipfw(
			"00100 skipto 500 tcp from any to any\n00400 deny ip from any to any\n00500 allow ip from any to any\n65535 deny ip from any to any\n",
		),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "ipfw" },
	],
	[
		"IPFilter that blocks and lets in all of TCP",
		commands({
			...noPf,
			"ipf -V":
				"ipf: IP Filter: v5.1.2 (608)\nRunning: yes\nDefault: block all, Logging: available\n",
			"ipfstat -i": "pass in quick proto tcp from any to any keep state\n",
		}),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "ipfilter" },
	],
	["no packet filter at all", commands(noPf), "FAIL", { enabled: false }],
	[
		"pf without root",
		{
			isPrivileged: false,
			commands: {
				"pfctl -s info": {
					exitCode: 1,
					stderr: "pfctl: /dev/pf: Permission denied\n",
				},
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", engine: "pf" },
	],
	[
		"a kernel that does not answer",
		commands({
			...noPf,
			"sysctl -n net.inet.ip.fw.enable": { ended: "timed_out" },
		}),
		"UNKNOWN",
		{ reason: "default_not_known", engine: "ipfw" },
	],
]);
