import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { checkFirewall } from "../../agent/checks/linux/firewall.ts";
import { findOpenZone } from "../../agent/checks/linux/firewalld-zones.ts";
import { host, makeInterfaces, print, run, whileRuns } from "./in-namespace.ts";

// This program runs in namespaces of its own, with a D-Bus and a firewalld of its own. It binds
// interfaces and sources to zones, and judges the rules that firewalld makes, and the zones that
// firewalld names.

interface ZoneCase {
	name: string;
	/** Arguments of firewall-cmd, one call an element. */
	calls: string[];
	/** The verdict about the rules in the kernel. */
	rules: "PASS" | "FAIL";
	/** The zone that firewalld names as open, or null if it names none. */
	zone: string | null;
}

const CASES: ZoneCase[] = [
	{
		name: "zone public, nothing bound",
		calls: ["--set-default-zone=public"],
		rules: "PASS",
		zone: null,
	},
	{
		name: "zone drop, nothing bound",
		calls: ["--set-default-zone=drop"],
		rules: "PASS",
		zone: null,
	},
	{
		name: "zone public, and wlan0 in zone drop",
		calls: ["--set-default-zone=public", "--zone=drop --add-interface=wlan0"],
		rules: "PASS",
		zone: null,
	},
	{
		name: "zone public, and wlan0 in zone trusted",
		calls: [
			"--set-default-zone=public",
			"--zone=trusted --add-interface=wlan0",
		],
		rules: "FAIL",
		zone: "trusted",
	},
	{
		name: "zone trusted, nothing bound",
		calls: ["--set-default-zone=trusted"],
		rules: "FAIL",
		zone: "trusted",
	},
	{
		name: "zone public, and all sources in zone trusted",
		calls: [
			"--set-default-zone=public",
			"--zone=trusted --add-source=0.0.0.0/0",
		],
		rules: "FAIL",
		zone: "trusted",
	},
	{
		name: "zone public, and a local network in zone trusted",
		calls: [
			"--set-default-zone=public",
			"--zone=trusted --add-source=192.168.7.0/24",
		],
		// The rules keep out a stranger. The check fails for the zone, if systemd says that firewalld
		// runs.
		rules: "PASS",
		zone: "trusted",
	},
];

const BUS = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <policy context="default">
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
`;

/** Waits until firewalld answers. */
async function untilReady(): Promise<void> {
	for (let attempt = 0; attempt < 60; attempt++) {
		const { exitCode } = await host.run("firewall-cmd", ["--state"]);
		if (exitCode === 0) return;
		await sleep(500);
	}
	throw new Error("firewalld did not answer within 30 s");
}

async function judgeCase({ name, calls, rules, zone }: ZoneCase) {
	run("firewall-cmd", ["--reload"]);
	for (const call of calls) run("firewall-cmd", call.split(" "));
	const { status } = await checkFirewall(host);
	print("FIREWALL_ENABLED", `rules of firewalld: ${name}`, status, rules);
	const open = await findOpenZone(host, []);
	print(
		"FIREWALL_ENABLED",
		`zones of firewalld: ${name}`,
		describeZone(open),
		describeZone(zone),
	);
}

const describeZone = (zone: string | null | undefined) =>
	zone === undefined ? "UNKNOWN" : zone === null ? "PASS" : "FAIL";

// The machine's own settings and sockets stay as they are.
run("mount", ["-t", "tmpfs", "tmpfs", "/run"]);
run("cp", ["-a", "/etc/firewalld", "/run/settings"]);
run("mount", ["--bind", "/run/settings", "/etc/firewalld"]);
mkdirSync("/run/dbus");
writeFileSync("/run/bus.conf", BUS);
makeInterfaces();
await whileRuns(
	"dbus-daemon",
	["--config-file=/run/bus.conf", "--nofork", "--nopidfile"],
	() =>
		whileRuns("firewalld", ["--nofork", "--nopid"], async () => {
			await untilReady();
			for (const one of CASES) await judgeCase(one);
		}),
);
