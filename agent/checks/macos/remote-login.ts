import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { judgeSshd } from "../sshd.ts";
import { findRemoteControl } from "./remote-control.ts";

const REMOTE_MANAGEMENT =
	"/Library/Application Support/Apple/Remote Desktop/RemoteManagement.launchd";

/**
 * Checks Remote Login (SSH), Screen Sharing, Remote Management and products for remote control. All
 * but SSH accept a password, so the result is FAIL if one of them is on (CIS macOS 2.3.3). If SSH
 * is on, `judgeSshd` judges it. The check asks launchd, because without Full Disk Access
 * `systemsetup -getremotelogin` says Off even while sshd runs.
 */
export async function checkRemoteLogin(host: Host): Promise<CheckOutcome> {
	const overrides = await readOverrides(host);
	const ssh = await isOn(host, "com.openssh.sshd", overrides);
	const screenSharing = await isOn(host, "com.apple.screensharing", overrides);
	const remoteManagement = await isRemotelyManaged(host);
	const products = await findRemoteControl(host);
	const evidence = {
		...(ssh === undefined ? {} : { ssh_running: ssh }),
		...(screenSharing === undefined ? {} : { screen_sharing: screenSharing }),
		...(remoteManagement === undefined
			? {}
			: { remote_management: remoteManagement }),
		...(products?.length ? { open_services: products } : {}),
	};
	if (screenSharing || remoteManagement || products?.length) {
		return fail(evidence);
	}
	const outcome = ssh ? await judgeSshd(host, evidence) : pass(evidence);
	if (outcome.status !== "PASS") return outcome;
	if (Object.keys(evidence).length < 3) {
		return unknown("service_state_not_known", outcome.evidence);
	}
	return products === undefined
		? unknown("processes_not_readable", outcome.evidence)
		: outcome;
}

/**
 * Returns true if launchd has loaded the service or would load it at the next start. All three
 * services are off by default, so a service that is in no list is off.
 */
async function isOn(
	host: Host,
	label: string,
	overrides: ReadonlyMap<string, boolean> | undefined,
): Promise<boolean | undefined> {
	const result = await host.run("launchctl", ["print", `system/${label}`]);
	if (result.ended !== "exited") return undefined;
	if (result.exitCode === 0) {
		return /^(system\/)?[A-Za-z.]+ = \{/.test(result.stdout) ? true : undefined;
	}
	const isUnknown = /Could not find service/.test(
		`${result.stderr}${result.stdout}`,
	);
	if (!isUnknown || overrides === undefined) return undefined;
	return overrides.get(label) ?? false;
}

/**
 * Reads the services that somebody has switched on or off. launchd prints `"com.openssh.sshd" =>
 * enabled` or, up to macOS 12, `=> false`, which means that the service is not disabled.
 */
async function readOverrides(
	host: Host,
): Promise<ReadonlyMap<string, boolean> | undefined> {
	const result = await host.run("launchctl", ["print-disabled", "system"]);
	if (result.exitCode !== 0 || !/disabled services = \{/.test(result.stdout))
		return undefined;
	const overrides = new Map<string, boolean>();
	for (const [, label, state] of result.stdout.matchAll(
		/^[ \t]*"([A-Za-z0-9._-]{1,128})" => (enabled|disabled|true|false)\s*$/gm,
	)) {
		if (label !== undefined)
			overrides.set(label, state === "enabled" || state === "false");
	}
	return overrides;
}

/**
 * Returns whether Remote Management (Apple Remote Desktop) is on, according to its settings file.
 */
async function isRemotelyManaged(host: Host): Promise<boolean | undefined> {
	const file = await host.readFile(REMOTE_MANAGEMENT);
	if (file.kind === "missing") return false;
	if (file.kind !== "text") return undefined;
	const state = file.text.trim();
	return state === "enabled"
		? true
		: state === "disabled" || state === ""
			? false
			: undefined;
}
