import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { runForText } from "../run-for-text.ts";
import { allowsSecurityUpdates } from "./apt-origins.ts";
import type { Services } from "./services.ts";

/**
 * Checks unattended-upgrades. The package must be installed, apt's periodic job must run it and
 * refresh the package lists, the security updates must be allowed, and systemd's timers must start
 * the job. Without systemd, cron starts it.
 */
export async function checkUnattendedUpgrades(
	host: Host,
	services: Services | undefined,
	release: ReadonlyMap<string, string>,
): Promise<CheckOutcome> {
	const programs = await host.listFolder("/usr/bin");
	if (programs.kind !== "names") return unknown("unrecognized_output");
	const mechanism = "unattended-upgrades";
	const hasTool = ["unattended-upgrade", "unattended-upgrades"].some((name) =>
		programs.names.includes(name),
	);
	if (!hasTool) return fail({ mechanism: "none" });

	const text = await runForText(host, "apt-config", ["dump"]);
	const settings = parseAptConfig(text ?? "");
	if (settings.length === 0) {
		return unknown(
			text === undefined ? "command_failed" : "unrecognized_output",
		);
	}
	const last = (key: string) =>
		settings.findLast(([name]) => name === key)?.[1] ?? "0";
	const isOn = (key: string) => isPeriod(last(`APT::Periodic::${key}`));
	const allowsSecurity = allowsSecurityUpdates(settings, release);
	const evidence = {
		mechanism,
		installs: isOn("Unattended-Upgrade"),
		refreshes_lists: isOn("Update-Package-Lists"),
		security_origins: allowsSecurity ?? "unknown",
	};
	const isEnabled =
		last("APT::Periodic::Enable") !== "0" ||
		!settings.some(([name]) => name === "APT::Periodic::Enable");
	const timers = ["apt-daily.timer", "apt-daily-upgrade.timer"].map((unit) =>
		services?.get(unit),
	);
	const areArmed = timers.every((timer) => timer?.isActive);
	if (!evidence.installs || !evidence.refreshes_lists || !isEnabled) {
		return fail({
			...evidence,
			...(!isEnabled && { periodic_enabled: false }),
		});
	}
	if (allowsSecurity === false) return fail(evidence);
	if (!services) return unknown("service_manager_not_recognized", evidence);
	if (!areArmed) return fail({ ...evidence, timers_active: false });
	return allowsSecurity
		? pass(evidence)
		: unknown("update_origins_not_known", evidence);
}

/** Parses lines of the form `name "value";`. A list has one line for each of its values. */
function parseAptConfig(text: string): [name: string, value: string][] {
	const settings: [string, string][] = [];
	for (const line of text.split("\n")) {
		const match = /^([A-Za-z][\w:+./-]{0,200}) "([^"]{0,500})";$/.exec(line);
		if (match?.[1] !== undefined && match[2] !== undefined) {
			settings.push([match[1], match[2]]);
		}
	}
	return settings;
}

/**
 * Returns true for a period other than zero, which means never. A period is `always` or a number,
 * in days or with the unit s, m, h or d.
 */
const isPeriod = (text: string) =>
	text === "always" || (/^\d{1,9}[smhd]?$/.test(text) && !/^0+\D?$/.test(text));
