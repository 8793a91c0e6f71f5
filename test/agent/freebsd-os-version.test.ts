import { bsdTable } from "./freebsd-table.ts";
import { commands, file } from "./recorded-table.ts";

const version = (userland: string, kernel = userland, runs = kernel) =>
	commands({
		"freebsd-version -u": `${userland}\n`,
		"freebsd-version -kr": `${kernel}\n${runs}\n`,
	});
const tag = (release: string, seconds: number) =>
	`freebsd-update|amd64|${release}|1|${"0a".repeat(32)}|${seconds}\n`;

bsdTable("OS_VERSION", [
	[
		"supported",
		{},
		"PASS",
		{
			version: "14.5-RELEASE-p2",
			supported_until: "2027-06-30",
			supported: true,
		},
	],
	[
		"a supported release whose new kernel is not started yet",
		version("15.1-RELEASE-p3", "15.1-RELEASE-p3", "15.1-RELEASE"),
		"PASS",
		{
			version: "15.1-RELEASE-p3",
			restart_pending: true,
			supported_until: "2027-03-31",
			supported: true,
		},
	],
	[
		"a release without support",
		version("15.0-RELEASE-p9"),
		"FAIL",
		{
			version: "15.0-RELEASE-p9",
			supported_until: "2026-09-30",
			supported: false,
		},
	],
	[
		"a release of a branch without support",
		version("13.2-RELEASE-p11"),
		"FAIL",
		{
			version: "13.2-RELEASE-p11",
			supported: false,
			supported_until: "2026-04-30",
		},
	],
	[
		"an old branch",
		version("12.4-RELEASE-p9"),
		"FAIL",
		{ version: "12.4-RELEASE-p9", supported: false },
	],
	[
		"a stable branch",
		version("14.5-STABLE"),
		"PASS",
		{ version: "14.5-STABLE", supported_until: "2028-11-30", supported: true },
	],
	[
		"a release newer than the agent, which freebsd-update knows",
		{
			...version("15.2-RELEASE"),
			...file("/var/db/freebsd-update/tag", tag("15.2-RELEASE", 1822348800)),
		},
		"PASS",
		{ version: "15.2-RELEASE", supported_until: "2027-10-01", supported: true },
	],
	[
		"a release newer than the agent, while freebsd-update knows another one",
		{
			...version("15.2-RELEASE"),
			...file("/var/db/freebsd-update/tag", tag("15.1-RELEASE", 1822348800)),
		},
		"UNKNOWN",
		{ reason: "release_not_known", version: "15.2-RELEASE" },
	],
	[
		"a jail, which has no kernel",
		commands({
			"freebsd-version -kr": {
				exitCode: 1,
				stderr: "freebsd-version: unable to locate kernel\n",
			},
		}),
		"PASS",
		{
			version: "14.5-RELEASE-p2",
			supported_until: "2027-06-30",
			supported: true,
		},
	],
	[
		"the development branch",
		version("16.0-CURRENT"),
		"UNKNOWN",
		{ reason: "development_version", version: "16.0-CURRENT" },
	],
	[
		"another system",
		version("5.15.0-91-generic"),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);
