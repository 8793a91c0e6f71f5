import { bsdTable } from "./freebsd-table.ts";
import { commands } from "./recorded-table.ts";

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
		"UNKNOWN",
		{ reason: "default_not_known", engine: "pf" },
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
