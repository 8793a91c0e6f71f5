import { macTable } from "./macos-table.ts";
import { type Change, commands } from "./recorded-table.ts";

const version = (name: string, build: string, now?: string): Change => ({
	...commands({
		sw_vers: `ProductName:\t\tmacOS\nProductVersion:\t\t${name}\nProductVersionExtra:\t(a)\nBuildVersion:\t\t${build}\n`,
	}),
	...(now === undefined ? {} : { now }),
});

macTable("OS_VERSION", [
	[
		"the version before the current",
		{},
		"PASS",
		{
			version: "26.1",
			build: "25B78",
			supported_until: "2028-09",
			estimated: true,
			supported: true,
		},
	],
	[
		"the oldest version that still gets updates",
		version("15.7.2", "24G325"),
		"PASS",
		{
			version: "15.7.2",
			build: "24G325",
			supported_until: "2027-09",
			estimated: true,
			supported: true,
		},
	],
	[
		"the newest version without updates",
		version("14.8.3", "23J220"),
		"FAIL",
		{
			version: "14.8.3",
			build: "23J220",
			supported: false,
			supported_until: "2026-09-14",
		},
	],
	[
		"a version with another numbering",
		version("10.15.7", "19H15"),
		"FAIL",
		{ version: "10.15.7", build: "19H15", supported: false },
	],
	[
		"a version that the agent does not know yet",
		version("28.0", "27A300", "2027-11-02T00:00:00Z"),
		"PASS",
		{
			version: "28.0",
			build: "27A300",
			supported_until: "2030-09",
			estimated: true,
			supported: true,
		},
	],
	[
		"a version whose end an old agent can only guess",
		version("15.7.2", "24G325", "2028-01-01T00:00:00Z"),
		"UNKNOWN",
		{
			reason: "support_not_known",
			version: "15.7.2",
			build: "24G325",
			supported_until: "2027-09",
			estimated: true,
		},
	],
	[
		"a number that was never given",
		version("19.0", "23A1"),
		"UNKNOWN",
		{ reason: "version_not_known", version: "19.0", build: "23A1" },
	],
	[
		"no number",
		version("Sequoia", "24A1"),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);
