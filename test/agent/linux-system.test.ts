import { describe, expect, test } from "vitest";
import {
	checkAutoUpdate,
	UPDATE_UNITS,
} from "../../agent/checks/linux/auto-update.ts";
import { checkOsVersion } from "../../agent/checks/linux/os-version.ts";
import {
	checkTimeSync,
	TIME_UNITS,
} from "../../agent/checks/linux/time-sync.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import {
	CONTAINER,
	linux,
	MACHINE,
	OS_RELEASE,
	processes,
	type UnitState,
	units,
	WSL,
} from "./recordings/linux.ts";

describe("the clock", () => {
	const SHOW = "timedatectl show --property=NTPSynchronized";
	const TRACKING = "chronyc -n tracking";
	const NTPQ = "ntpq -n -c rv 0 leap,stratum";
	const tracking = (leap: string) =>
		`Reference ID    : C0000201 (192.0.2.1)\nStratum         : 3\nRef time (UTC)  : Sat Nov 21 11:58:02 2026\nSystem time     : 0.000012345 seconds fast of NTP time\nLeap status     : ${leap}\n`;
	const check = (
		states: Record<string, UnitState> | undefined,
		commands: Record<string, string>,
		files: Record<string, string> = {},
	) =>
		checkTimeSync(
			recordedHost(
				linux({
					files: {
						...MACHINE,
						"/proc/uptime": "86400.12 170000.00\n",
						...processes(),
						...files,
					},
					commands: { ...(states && units(TIME_UNITS, states)), ...commands },
				}),
			),
		);

	test.each([
		[
			"systemd-timesyncd in step",
			{ "systemd-timesyncd.service": "running" },
			{ [SHOW]: "NTPSynchronized=yes\n" },
			{},
			"PASS",
			{ service: "systemd-timesyncd", synchronized: true },
		],
		[
			"systemd-timesyncd out of step for a day",
			{ "systemd-timesyncd.service": "running" },
			{ [SHOW]: "NTPSynchronized=no\n" },
			{},
			"FAIL",
			{ synchronized: false },
		],
		[
			"systemd-timesyncd just after the start",
			{ "systemd-timesyncd.service": "running" },
			{ [SHOW]: "NTPSynchronized=no\n" },
			{ "/proc/uptime": "95.20 300.00\n" },
			"UNKNOWN",
			{ reason: "not_yet_synchronized" },
		],
		[
			"nothing that keeps it",
			{ "systemd-timesyncd.service": "stopped" },
			{ [SHOW]: "NTPSynchronized=no\n" },
			{},
			"FAIL",
			{ service: "none", synchronized: false },
		],
		[
			"chrony where there is no timedatectl",
			{ "chronyd.service": "running" },
			{ [TRACKING]: tracking("Normal") },
			{},
			"PASS",
			{ service: "chrony" },
		],
		[
			"chrony that has no source",
			{ "chronyd.service": "running" },
			{ [TRACKING]: tracking("Not synchronised") },
			{},
			"FAIL",
			{ service: "chrony", synchronized: false },
		],
		[
			"chrony that says something else",
			{ "chronyd.service": "running" },
			{ [TRACKING]: "506 Cannot talk to daemon\n" },
			{},
			"UNKNOWN",
			{ service: "chrony" },
		],
		[
			"ntpd in step",
			{ "ntpsec.service": "running" },
			{ [NTPQ]: "leap=00, stratum=2\n" },
			{},
			"PASS",
			{ service: "ntpd" },
		],
		[
			"ntpd with an alarm",
			{ "ntp.service": "running" },
			{ [NTPQ]: "leap=11, stratum=16\n" },
			{},
			"FAIL",
			{ synchronized: false },
		],
		[
			"OpenNTPD",
			{ "openntpd.service": "running" },
			{ "ntpctl -s status": "4/4 peers valid, clock synced, stratum 3\n" },
			{},
			"PASS",
			{ service: "openntpd" },
		],
		[
			"OpenNTPD out of step",
			{ "openntpd.service": "running" },
			{ "ntpctl -s status": "0/4 peers valid, clock unsynced\n" },
			{},
			"FAIL",
			{},
		],
		[
			"an older timedatectl",
			{ "chronyd.service": "running" },
			{
				"timedatectl status":
					"      Local time: Sat 2026-11-21 12:00:00 UTC\n     NTP enabled: yes\nNTP synchronized: yes\n RTC in local TZ: no\n",
			},
			{},
			"PASS",
			{ service: "chrony" },
		],
		[
			"a service that systemd does not know",
			{},
			{ [SHOW]: "NTPSynchronized=yes\n" },
			processes({ name: "chronyd", uid: 998 }),
			"PASS",
			{ service: "chrony" },
		],
	] as const)("%s", async (_, states, commands, files, status, evidence) => {
		expect(await check(states, commands, files)).toMatchObject({
			status,
			evidence,
		});
	});

	test("Alpine's own ntpd is judged by the kernel, through busybox", async () => {
		const files = {
			"/etc/alpine-release": "3.22.1\n",
			...processes({ name: "ntpd" }),
		};
		const adjtimex = (status: string) =>
			`    mode:         0\n-o  offset:       0 us\n    status:       ${status}\n`;
		expect(
			(
				await check(
					undefined,
					{ "busybox adjtimex": adjtimex("8193 (PLL | NANO)") },
					files,
				)
			).status,
		).toBe("PASS");
		expect(
			(
				await check(
					undefined,
					{ "busybox adjtimex": adjtimex("64 (UNSYNC)") },
					files,
				)
			).status,
		).toBe("FAIL");
	});

	test("a container's and WSL's clock is not their own", async () => {
		expect((await check({}, {}, CONTAINER)).status).toBe("NOT_APPLICABLE");
		expect((await check({}, {}, WSL)).status).toBe("NOT_APPLICABLE");
	});

	test("without a service manager and a list of processes nothing is concluded", async () => {
		const host = recordedHost(linux({ files: MACHINE }));
		expect((await checkTimeSync(host)).status).toBe("UNKNOWN");
	});
});

describe("the release", () => {
	const check = (osRelease: string, more: Partial<Recording> = {}) =>
		checkOsVersion(
			recordedHost(linux({ ...more, files: { "/etc/os-release": osRelease } })),
		);

	test.each([
		[
			"Ubuntu LTS",
			OS_RELEASE.ubuntu,
			"PASS",
			{ version: "24.04", supported_until: "2029-05-31" },
		],
		[
			"Ubuntu between LTS, ended",
			OS_RELEASE.ubuntu.replaceAll("24.04", "25.04"),
			"FAIL",
			{ supported_until: "2026-01-15" },
		],
		[
			"Ubuntu newer than the table",
			'ID=ubuntu\nVERSION_ID="26.10"\n',
			"PASS",
			{ supported_until_at_least: "2027-01-23" },
		],
		[
			"Ubuntu that the table left out",
			'ID=ubuntu\nVERSION_ID="19.10"\n',
			"UNKNOWN",
			{ reason: "release_not_known" },
		],
		[
			"Ubuntu older than the table",
			'ID=ubuntu\nVERSION_ID="12.04"\n',
			"FAIL",
			{ older_than_supported: true },
		],
		[
			"Debian in its LTS years",
			OS_RELEASE.debian,
			"PASS",
			{ supported_until: "2028-06-30" },
		],
		[
			"Debian after its LTS",
			OS_RELEASE.debian.replaceAll("12", "11"),
			"FAIL",
			{ supported_until: "2026-08-31" },
		],
		[
			"Debian testing",
			'PRETTY_NAME="Debian GNU/Linux forky/sid"\nNAME="Debian GNU/Linux"\nVERSION_CODENAME=forky\nID=debian\n',
			"PASS",
			{ rolling: true },
		],
		[
			"Fedora, which says its end itself",
			OS_RELEASE.fedora,
			"PASS",
			{ supported_until: "2026-12-02" },
		],
		[
			"Fedora after the end it says",
			OS_RELEASE.fedora.replace("2026-12-02", "2026-11-20"),
			"FAIL",
			{ supported_until: "2026-11-20" },
		],
		[
			"Fedora on its last day",
			OS_RELEASE.fedora.replace("2026-12-02", "2026-11-21"),
			"PASS",
			{},
		],
		[
			"Rocky by its series",
			OS_RELEASE.rocky,
			"PASS",
			{ version: "9.5", supported_until: "2032-05-31" },
		],
		[
			"CentOS 7",
			'NAME="CentOS Linux"\nID="centos"\nVERSION_ID="7"\n',
			"FAIL",
			{ supported_until: "2024-06-30" },
		],
		[
			"openSUSE Leap",
			'ID="opensuse-leap"\nVERSION_ID="15.6"\n',
			"FAIL",
			{ supported_until: "2026-04-30" },
		],
		[
			"Tumbleweed",
			'ID="opensuse-tumbleweed"\nVERSION_ID="20261118"\n',
			"PASS",
			{ rolling: true },
		],
		["Arch", OS_RELEASE.arch, "PASS", { rolling: true }],
		[
			"an old service pack of SLES",
			'ID="sles"\nVERSION_ID="15.2"\n',
			"FAIL",
			{ supported_until: "2021-12-31" },
		],
		[
			"the last service pack, of the desktop",
			'ID="sled"\nVERSION_ID="15.7"\n',
			"PASS",
			{ supported_until: "2031-07-31" },
		],
		[
			"Oracle Linux",
			'ID="ol"\nVERSION_ID="8.10"\n',
			"PASS",
			{ supported_until: "2029-07-31" },
		],
		[
			"Amazon Linux, once it has ended",
			'ID="amzn"\nVERSION_ID="2"\n',
			"FAIL",
			{ supported_until: "2026-06-30" },
		],
		["Alpine", OS_RELEASE.alpine, "PASS", { supported_until: "2027-05-01" }],
		[
			"Alpine edge",
			"ID=alpine\nVERSION_ID=3.24.0_alpha20260805\n",
			"PASS",
			{ rolling: true },
		],
		[
			"Linux Mint, by Ubuntu's dates",
			'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="22.1"\nUBUNTU_CODENAME=noble\n',
			"PASS",
			{ based_on: "ubuntu-24.04" },
		],
		[
			"Linux Mint on an ended Ubuntu",
			'ID=linuxmint\nVERSION_ID="20.3"\nUBUNTU_CODENAME=focal\n',
			"FAIL",
			{ based_on: "ubuntu-20.04" },
		],
		[
			"a distribution that is not known",
			'ID=hannah\nVERSION_ID="1"\n',
			"UNKNOWN",
			{ reason: "distribution_not_known" },
		],
		[
			"the name of a part of every object",
			"ID=constructor\nVERSION_ID=1\n",
			"UNKNOWN",
			{ reason: "distribution_not_known" },
		],
		[
			"no name at all",
			"PRETTY_NAME=x\n",
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
	] as const)("%s", async (_, text, status, evidence) => {
		expect(await check(text)).toMatchObject({ status, evidence });
	});

	test("a release newer than the table is not trusted beyond the least that its kind is supported", async () => {
		const text = 'ID=ubuntu\nVERSION_ID="26.10"\n';
		expect((await check(text, { now: "2027-06-01T00:00:00Z" })).status).toBe(
			"UNKNOWN",
		);
	});

	test("Ubuntu Pro supports a machine that is attached to it after the free years", async () => {
		const focal = OS_RELEASE.ubuntu.replaceAll("24.04", "20.04");
		const pro = (attached: boolean, status: string) => ({
			commands: {
				"pro status --format json": JSON.stringify({
					attached,
					account: { name: "ada@example.org" },
					services: [
						{ name: "esm-apps", status },
						{ name: "esm-infra", status },
					],
				}),
			},
		});
		expect(await check(focal, pro(true, "enabled"))).toMatchObject({
			status: "PASS",
			evidence: { extended_support: "ubuntu-pro" },
		});
		expect((await check(focal, pro(true, "disabled"))).status).toBe("FAIL");
		expect((await check(focal, pro(false, "enabled"))).status).toBe("FAIL");
		expect((await check(focal)).status).toBe("FAIL");
	});
});

describe("updates", () => {
	const check = (
		osRelease: string,
		states: Record<string, UnitState> | undefined,
		more: Partial<Recording> = {},
	) =>
		checkAutoUpdate(
			recordedHost(
				linux({
					folders: {
						"/usr/bin": ["apt", "unattended-upgrade"],
						...more.folders,
					},
					files: { ...MACHINE, "/etc/os-release": osRelease, ...more.files },
					commands: {
						...(states && units(UPDATE_UNITS, states)),
						...more.commands,
					},
				}),
			),
		);
	const TIMERS = {
		"apt-daily.timer": "running",
		"apt-daily-upgrade.timer": "running",
	} as const;
	const apt = (
		changes: Record<string, string> = {},
		origin = 'Unattended-Upgrade::Allowed-Origins:: "Ubuntu:noble-security";',
	) => {
		const settings = {
			"Update-Package-Lists": "1",
			"Unattended-Upgrade": "1",
			...changes,
		};
		const lines = Object.entries(settings).map(
			([key, value]) => `APT::Periodic::${key} "${value}";`,
		);
		const dump = [
			'APT "";',
			'APT::Architecture "amd64";',
			'Acquire::http::Proxy "http://ada:S3CRET@proxy.example:3128";',
			'APT::Periodic "";',
			...lines,
			'Unattended-Upgrade "";',
			'Unattended-Upgrade::Allowed-Origins "";',
			origin,
		];
		return { commands: { "apt-config dump": `${dump.join("\n")}\n` } };
	};

	test.each([
		[
			"unattended-upgrades as it is installed",
			TIMERS,
			apt(),
			"PASS",
			{ mechanism: "unattended-upgrades", installs: true },
		],
		[
			"periods in words",
			TIMERS,
			apt({ "Update-Package-Lists": "always", "Unattended-Upgrade": "7d" }),
			"PASS",
			{},
		],
		[
			"Debian's own pattern of origins",
			TIMERS,
			apt(
				{},
				'Unattended-Upgrade::Origins-Pattern:: "origin=Debian,codename=bookworm,label=Debian-Security";',
			),
			"PASS",
			{},
		],
		[
			"upgrades that are switched off",
			TIMERS,
			apt({ "Unattended-Upgrade": "0" }),
			"FAIL",
			{ installs: false },
		],
		[
			"lists that are never refreshed",
			TIMERS,
			apt({ "Update-Package-Lists": "0" }),
			"FAIL",
			{ refreshes_lists: false },
		],
		[
			"periodic work that is switched off",
			TIMERS,
			apt({ Enable: "0" }),
			"FAIL",
			{ periodic_enabled: false },
		],
		[
			"no origin of security updates",
			TIMERS,
			apt({}, 'Unattended-Upgrade::Allowed-Origins:: "LP-PPA:stable";'),
			"FAIL",
			{ security_origins: false },
		],
		[
			"timers that do not run",
			{ "apt-daily.timer": "running" },
			apt(),
			"FAIL",
			{ timers_active: false },
		],
		[
			"no program to do it",
			TIMERS,
			{ ...apt(), folders: { "/usr/bin": ["apt"] } },
			"FAIL",
			{ mechanism: "none" },
		],
		[
			"an apt-config that fails",
			TIMERS,
			{ commands: { "apt-config dump": { exitCode: 100 } } },
			"UNKNOWN",
			{ reason: "command_failed" },
		],
		[
			"an apt-config that says something else",
			TIMERS,
			{ commands: { "apt-config dump": "E: S3CRET" } },
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"Mint's own automation",
			{ ...TIMERS, "mintupdate-automation-upgrade.timer": "running" },
			{},
			"PASS",
			{ mechanism: "mintupdate" },
		],
	] as const)("apt: %s", async (_, states, more, status, evidence) => {
		const outcome = await check(
			OS_RELEASE.ubuntu,
			states,
			more as Partial<Recording>,
		);
		expect(outcome).toMatchObject({ status, evidence });
		expect(JSON.stringify(outcome)).not.toContain("S3CRET");
	});

	test("apt without systemd is not judged: what starts its work is not known", async () => {
		expect((await check(OS_RELEASE.debian, undefined, apt())).status).toBe(
			"UNKNOWN",
		);
	});

	const AUTOMATIC = "/etc/dnf/automatic.conf";
	const dnf = (applies: string) => ({
		files: {
			[AUTOMATIC]: `[commands]\nupgrade_type = security\nrandom_sleep = 0\ndownload_updates = yes\napply_updates = ${applies}\n\n[email]\nemail_from = root@example.com\n`,
		},
	});

	test.each([
		[
			"dnf-automatic that installs",
			OS_RELEASE.rocky,
			{ "dnf-automatic.timer": "running" },
			dnf("yes"),
			"PASS",
			{ mechanism: "dnf-automatic" },
		],
		[
			"dnf-automatic that only notifies",
			OS_RELEASE.rocky,
			{ "dnf-automatic.timer": "running" },
			dnf("no"),
			"FAIL",
			{ installs: false },
		],
		[
			"the timer that always installs",
			OS_RELEASE.rocky,
			{ "dnf-automatic-install.timer": "running" },
			{},
			"PASS",
			{},
		],
		[
			"dnf5 with the settings it came with",
			OS_RELEASE.fedora,
			{ "dnf5-automatic.timer": "running" },
			{
				files: {
					"/usr/share/dnf5/dnf5-plugins/automatic.conf":
						"[commands]\napply_updates = no\n",
				},
			},
			"FAIL",
			{ installs: false },
		],
		[
			"settings that are not understood",
			OS_RELEASE.rocky,
			{ "dnf-automatic.timer": "running" },
			{ files: { [AUTOMATIC]: "[commands]\napply_updates = perhaps\n" } },
			"UNKNOWN",
			{},
		],
		["nothing", OS_RELEASE.fedora, {}, {}, "FAIL", { mechanism: "none" }],
		[
			"rpm-ostree that stages",
			OS_RELEASE.fedora,
			{ "rpm-ostreed-automatic.timer": "running" },
			{
				files: {
					"/etc/rpm-ostreed.conf": "[Daemon]\nAutomaticUpdatePolicy=stage\n",
				},
			},
			"PASS",
			{ mechanism: "rpm-ostree" },
		],
		[
			"rpm-ostree that only checks",
			OS_RELEASE.fedora,
			{ "rpm-ostreed-automatic.timer": "running" },
			{
				files: {
					"/etc/rpm-ostreed.conf":
						"[Daemon]\n#IdleExitTimeout=60\nAutomaticUpdatePolicy=check\n",
				},
			},
			"FAIL",
			{ installs: false },
		],
		[
			"yum-cron",
			'ID="centos"\nID_LIKE="rhel fedora"\nVERSION_ID="7"\n',
			{ "yum-cron.service": "running" },
			{
				files: {
					"/etc/yum/yum-cron.conf":
						"[commands]\nupdate_cmd = security\napply_updates = yes\n",
				},
			},
			"PASS",
			{ mechanism: "yum-cron" },
		],
		[
			"transactional-update",
			'ID="opensuse-microos"\nID_LIKE="suse opensuse opensuse-tumbleweed"\n',
			{ "transactional-update.timer": "running" },
			{},
			"PASS",
			{},
		],
		[
			"openSUSE without any",
			'ID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="16.0"\n',
			{},
			{},
			"FAIL",
			{},
		],
		[
			"NixOS",
			'ID=nixos\nVERSION_ID="26.05"\n',
			{ "nixos-upgrade.timer": "running" },
			{},
			"PASS",
			{ mechanism: "nixos-upgrade" },
		],
		[
			"Ubuntu Core",
			'ID=ubuntu-core\nVERSION_ID="24"\n',
			{},
			{},
			"PASS",
			{ mechanism: "snapd" },
		],
		[
			"Arch, which has no mechanism of its own",
			OS_RELEASE.arch,
			{},
			{},
			"UNKNOWN",
			{ reason: "no_standard_mechanism" },
		],
		[
			"no service manager that is known",
			OS_RELEASE.arch,
			undefined,
			{},
			"UNKNOWN",
			{ reason: "service_manager_not_recognized" },
		],
		[
			"a container",
			OS_RELEASE.debian,
			{},
			{ files: CONTAINER },
			"NOT_APPLICABLE",
			{ reason: "container" },
		],
	] as const)("%s", async (_, osRelease, states, more, status, evidence) => {
		expect(await check(osRelease, states, more)).toMatchObject({
			status,
			evidence,
		});
	});
});
