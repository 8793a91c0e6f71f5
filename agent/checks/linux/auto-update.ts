import type { Host } from "../../host.ts";
import {
	type CheckOutcome,
	fail,
	notApplicable,
	pass,
	unknown,
} from "../check.ts";
import { daysSince, judgePatchAge, withPending } from "../patch-age.ts";
import { checkUnattendedUpgrades } from "./apt-updates.ts";
import { doesDesktopUpdate } from "./desktop-updates.ts";
import { findEnclosure } from "./enclosure.ts";
import { familyOf, readOsRelease } from "./os-release.ts";
import { findSearchDays } from "./patch-stamps.ts";
import { findPendingPackages } from "./pending-packages.ts";
import { readText } from "./read-text.ts";
import { judgePendingRestart } from "./restart-pending.ts";
import { findServices, type Services } from "./services.ts";
import { parseSettings, parseSwitch } from "./settings.ts";

/**
 * Timers and services that always install updates. They have no setting that makes them only
 * notify.
 */
const INSTALLERS: Record<string, string> = {
	"dnf-automatic-install.timer": "dnf-automatic",
	"transactional-update.timer": "transactional-update",
	"os-update.timer": "os-update",
	"nixos-upgrade.timer": "nixos-upgrade",
	"mintupdate-automation-upgrade.timer": "mintupdate",
	"bootc-fetch-apply-updates.timer": "bootc",
	"zincati.service": "zincati",
	"uupd.timer": "uupd",
	"ublue-update.timer": "ublue-update",
	"systemd-sysupdate.timer": "systemd-sysupdate",
	"update-engine.service": "update-engine",
};

/** Timers of dnf and yum. Their settings say whether they install updates or only notify. */
const DNF_TIMERS = ["dnf5-automatic.timer", "dnf-automatic.timer"];

export const UPDATE_UNITS = [
	...Object.keys(INSTALLERS),
	...DNF_TIMERS,
	"rpm-ostreed-automatic.timer",
	"yum-cron.service",
	"apt-daily.timer",
	"apt-daily-upgrade.timer",
	"landscape-client.service",
	"salt-minion.service",
	"venv-salt-minion.service",
	"puppet.service",
	"chef-client.service",
	"amagent.service",
	"goferd.service",
];

/** Services through which another system may install updates, which the check cannot see. */
const MANAGERS: Record<string, string> = {
	"landscape-client.service": "landscape",
	"salt-minion.service": "salt",
	"venv-salt-minion.service": "suse-manager",
	"puppet.service": "puppet",
	"chef-client.service": "chef",
	"amagent.service": "automox",
	"goferd.service": "satellite",
};

/**
 * Returns PASS if security updates are installed automatically by unattended-upgrades,
 * dnf-automatic or the distribution's own mechanism (CIS Controls 7.3, automated patch management).
 * Returns FAIL if updates are only announced or downloaded, as GNOME Software does. Some
 * distributions have no mechanism of their own (Arch, Alpine, Gentoo, Void). On these, finding no
 * mechanism proves nothing and the result is UNKNOWN. A device without a mechanism that another
 * system manages (Landscape, Satellite, Salt, Puppet, Chef, Automox) is UNKNOWN too, and so is one
 * that KDE's Discover updates while a user is signed in.
 *
 * The mechanism must also have worked: the newest sign of a search that succeeded, or of installed
 * packages, may be at most 60 days old. A security update that apt or dnf knows of may wait for at
 * most 60 days from when the agent first saw it, and installed updates may wait as long for a
 * restart.
 */
export async function checkAutoUpdate(host: Host): Promise<CheckOutcome> {
	const outcome = await checkMechanism(host);
	if (outcome.status !== "PASS") return outcome;
	const { mechanism } = outcome.evidence;
	const waiting = await findPendingPackages(host, mechanism);
	const judged = judgePatchAge(host, withPending(outcome, waiting), {
		searchDays: await findSearchDays(host, mechanism),
		pendingDays: daysSince(waiting?.since, host.now),
	});
	return judgePendingRestart(host, judged);
}

async function checkMechanism(host: Host): Promise<CheckOutcome> {
	const enclosure = await findEnclosure(host);
	if (enclosure === "container") return notApplicable("container");
	const release = await readOsRelease(host);
	if (!release) return unknown("unrecognized_output");
	const family = familyOf(release);
	// The updates of Ubuntu Core are snaps, which snapd refreshes four times a day.
	if (family[0] === "ubuntu-core") return pass({ mechanism: "snapd" });

	const services = await findServices(host, UPDATE_UNITS);
	for (const [unit, mechanism] of Object.entries(INSTALLERS)) {
		if (!isOn(services, unit)) continue;
		return (await isSwitchedOff(host, mechanism))
			? fail({ mechanism, installs: false })
			: pass({ mechanism });
	}
	const manager = Object.entries(MANAGERS).find(([unit]) =>
		isOn(services, unit),
	)?.[1];
	const none = async () => {
		if (manager) {
			return unknown("managed_elsewhere", { mechanism: "none", manager });
		}
		return (await doesDesktopUpdate(host))
			? unknown("updated_by_desktop", { mechanism: "discover" })
			: fail({ mechanism: "none" });
	};
	if (family.includes("debian") || family.includes("ubuntu")) {
		const outcome = await checkUnattendedUpgrades(host, services, release);
		return outcome.evidence.mechanism === "none" ? none() : outcome;
	}
	if (!services) return unknown("service_manager_not_recognized");
	const found =
		(await checkOstree(host, services)) ??
		(await checkDnf(host, services)) ??
		(await checkYast(host));
	if (found) return found;
	const hasOwn = ["fedora", "rhel", "centos", "suse", "opensuse", "nixos"];
	return family.some((id) => hasOwn.includes(id) || id.startsWith("opensuse"))
		? none()
		: unknown("no_standard_mechanism");
}

const isOn = (services: Services | undefined, unit: string) =>
	services?.get(unit)?.isActive === true;

/** The folders and files in which somebody switches a running updater off. */
const SWITCHES: Record<string, { folders?: string[]; files?: string[] }> = {
	zincati: {
		folders: [
			"/usr/lib/zincati/config.d",
			"/run/zincati/config.d",
			"/etc/zincati/config.d",
		],
	},
	"update-engine": {
		files: ["/usr/share/flatcar/update.conf", "/etc/flatcar/update.conf"],
	},
};

/**
 * Returns true if the settings switch off an updater whose service still runs: zincati (Fedora
 * CoreOS) with `enabled = false`, update-engine (Flatcar) with `SERVER=disabled`.
 */
async function isSwitchedOff(host: Host, mechanism: string): Promise<boolean> {
	const { folders = [], files = [] } = SWITCHES[mechanism] ?? {};
	const paths = [...files];
	for (const folder of folders) {
		const listed = await host.listFolder(folder);
		if (listed.kind !== "names") continue;
		paths.push(...listed.names.map((name) => `${folder}/${name}`));
	}
	let isOff = false;
	for (const path of paths) {
		const settings = parseSettings((await readText(host, path)) ?? "");
		const enabled = parseSwitch(settings.get("updates/enabled"));
		if (enabled !== undefined) isOff = !enabled;
		const server = settings.get("SERVER");
		if (server !== undefined) isOff = server === "disabled";
	}
	return isOff;
}

/** YaST's online update, which cron starts. */
async function checkYast(host: Host): Promise<CheckOutcome | undefined> {
	const text = await readText(host, "/etc/sysconfig/automatic_online_update");
	const isOn = parseSwitch(parseSettings(text ?? "").get("AOU_ENABLE_CRONJOB"));
	return isOn ? pass({ mechanism: "yast-online-update" }) : undefined;
}

async function checkOstree(
	host: Host,
	services: Services,
): Promise<CheckOutcome | undefined> {
	if (!isOn(services, "rpm-ostreed-automatic.timer")) return undefined;
	const settings = parseSettings(
		(await readText(host, "/etc/rpm-ostreed.conf")) ?? "",
	);
	const policy = settings.get("Daemon/AutomaticUpdatePolicy") ?? "none";
	const evidence = { mechanism: "rpm-ostree" };
	// With `stage`, rpm-ostree installs the update at the next start of the device.
	if (/^(stage|ex-stage|apply)$/.test(policy)) return pass(evidence);
	return /^(none|check)$/.test(policy)
		? fail({ ...evidence, installs: false })
		: unknown("unrecognized_output", evidence);
}

async function checkDnf(
	host: Host,
	services: Services,
): Promise<CheckOutcome | undefined> {
	const places: [isOn: boolean, mechanism: string, files: string[]][] = [
		[
			DNF_TIMERS.some((unit) => isOn(services, unit)),
			"dnf-automatic",
			[
				"/etc/dnf/automatic.conf",
				"/usr/share/dnf5/dnf5-plugins/automatic.conf",
			],
		],
		[
			isOn(services, "yum-cron.service"),
			"yum-cron",
			["/etc/yum/yum-cron.conf"],
		],
	];
	for (const [isActive, mechanism, files] of places) {
		if (!isActive) continue;
		for (const file of files) {
			const text = await readText(host, file);
			if (text === undefined) continue;
			const applies = parseSwitch(
				parseSettings(text).get("commands/apply_updates"),
			);
			if (applies === undefined) continue;
			return applies
				? pass({ mechanism })
				: fail({ mechanism, installs: false });
		}
		return unknown("unrecognized_output", { mechanism });
	}
	return undefined;
}
