import { describe, expect, test } from "vitest";
import {
	checkAutoUpdate,
	UPDATE_UNITS,
} from "../../agent/checks/linux/auto-update.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import {
	CONTAINER,
	linux,
	MACHINE,
	OS_RELEASE,
	searchedOn,
	type UnitState,
	units,
} from "./recordings/linux.ts";

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
						...searchedOn(["2026-11-20"]),
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
			"unattended-upgrades with its defaults",
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
			"the package is not installed",
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
			"an apt-config that prints something else",
			TIMERS,
			{ commands: { "apt-config dump": "E: S3CRET" } },
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"Mint's own automatic updates",
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

	test("apt without systemd is UNKNOWN, because something else starts its periodic job", async () => {
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
			"dnf5 with its default settings",
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
			"openSUSE without a mechanism",
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
			"no known service manager",
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

	test.each([
		["of unattended-upgrades' README", "debian", ["origin=*"], "PASS"],
		["for everything, in short", "ubuntu", ["o=*"], "PASS"],
		[
			"of Debian",
			"debian",
			[
				"origin=Debian,codename=$CODENAME,label=Debian",
				"origin=Debian,codename=$CODENAME-security,label=Debian-Security",
			],
			"PASS",
		],
		["for every codename", "debian", ["o=$ID,n=$CODENAME*"], "PASS"],
		["for the whole origin", "debian", ["origin=Debian"], "PASS"],
		["for an origin of Ubuntu", "ubuntu", ["origin=$ID,n=noble"], "PASS"],
		["for a suite of Ubuntu", "ubuntu", ["o=Ubuntu,a=noble-security"], "PASS"],
		["of a derivative", "mint", ["origin=Ubuntu,a=noble-security"], "PASS"],
		[
			"of Debian 10, which fits no newer security updates",
			"debian",
			["origin=Debian,codename=$CODENAME,label=Debian-Security"],
			"FAIL",
		],
		["without a label", "debian", ["origin=Debian,codename=bookworm"], "FAIL"],
		["for stable alone", "debian", ["o=Debian,a=stable"], "FAIL"],
		["for PPAs alone", "ubuntu", ["origin=LP-PPA-git-core,a=noble"], "FAIL"],
		["that do not exist", "debian", [], "FAIL"],
		["with a mirror's address", "debian", ["site=deb.example.com"], "UNKNOWN"],
		["with a mirror's name", "debian", ["origin=Example"], "UNKNOWN"],
		["for Ubuntu's updates", "ubuntu", ["o=Ubuntu,a=noble-updates"], "UNKNOWN"],
		["that are no patterns", "debian", ["*"], "UNKNOWN"],
		["of a derivative without a name", "mint", ["origin=Mint"], "UNKNOWN"],
	] as const)("patterns %s", async (_, system, patterns, status) => {
		const release = {
			debian: OS_RELEASE.debian,
			ubuntu: OS_RELEASE.ubuntu,
			mint: 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=zara\n',
		}[system];
		const lines = patterns.map((pattern) => {
			const text = pattern
				.replace("$CODENAME", ["$", "{distro_codename}"].join(""))
				.replace("$ID", ["$", "{distro_id}"].join(""));
			return `Unattended-Upgrade::Origins-Pattern:: "${text}";`;
		});
		const outcome = await check(release, TIMERS, apt({}, lines.join("\n")));
		expect(outcome).toMatchObject({
			status,
			evidence:
				status === "UNKNOWN"
					? { reason: "update_origins_not_known", security_origins: "unknown" }
					: { security_origins: status === "PASS" },
		});
	});

	test.each([
		["Ubuntu:noble-backports", "FAIL"],
		["Ubuntu:noble-updates", "UNKNOWN"],
		["*:noble-security", "PASS"],
		["UbuntuESM:noble-infra-security", "PASS"],
	])("the allowed origin %s", async (origin, status) => {
		const line = `Unattended-Upgrade::Allowed-Origins:: "${origin}";`;
		const outcome = await check(OS_RELEASE.ubuntu, TIMERS, apt({}, line));
		expect(outcome.status).toBe(status);
	});
});
