import { bsdTable } from "./freebsd-table.ts";
import { commands, file } from "./recorded-table.ts";
import { CRONTAB } from "./recordings/freebsd.ts";

const crontab = (line: string) => file("/etc/crontab", `${CRONTAB}${line}\n`);

bsdTable("AUTO_UPDATE", [
	[
		"installed by cron",
		{},
		"PASS",
		{ mechanism: "freebsd-update", packages: false },
	],
	[
		"installed by root's crontab",
		{
			files: {
				"/etc/crontab": CRONTAB,
				"/var/cron/tabs/root":
					"PAGER=cat\n@daily /usr/sbin/freebsd-update --not-running-from-cron fetch install\n",
			},
		},
		"PASS",
		{ mechanism: "freebsd-update", packages: false },
	],
	[
		"a base system of packages that cron upgrades",
		{
			...crontab("15 4 * * 1-5 root pkg upgrade -qy"),
			...commands({ "pkg info -e FreeBSD-runtime": "" }),
		},
		"PASS",
		{ mechanism: "pkgbase", packages: true },
	],
	[
		"a cron that upgrades only other packages",
		{
			...crontab("15 4 * * * root pkg upgrade -y"),
			...commands({ "pkg info -e FreeBSD-runtime": { exitCode: 1 } }),
		},
		"UNKNOWN",
		{ reason: "no_schedule_found", packages: true },
	],
	[
		"only downloaded",
		crontab("@daily root freebsd-update cron"),
		"FAIL",
		{ mechanism: "freebsd-update", download_only: true, packages: false },
	],
	[
		"commented out",
		crontab("#@daily root freebsd-update fetch install"),
		"UNKNOWN",
		{ reason: "no_schedule_found", packages: false },
	],
	[
		"a crontab of root that cannot be read",
		{
			isPrivileged: false,
			files: {
				"/etc/crontab": CRONTAB,
				"/var/cron/tabs/root": { kind: "denied" },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", packages: false },
	],
]);
