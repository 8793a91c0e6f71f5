import type { Evidence } from "../../../src/devices/terms.ts";
import type { Host } from "../../host.ts";
import { type CheckOutcome, fail, pass, unknown } from "../check.ts";
import { daysSince, judgePatchAge } from "../patch-age.ts";
import { findPendingUpdates } from "./pending-updates.ts";
import {
	type Preferences,
	readNumber,
	readPreferences,
	readSwitch,
} from "./preferences.ts";

const FORCED = "/Library/Managed Preferences/com.apple.SoftwareUpdate.plist";
const CHOSEN = "/Library/Preferences/com.apple.SoftwareUpdate.plist";
const DECLARED =
	"/var/db/softwareupdate/SoftwareUpdateDDMStatePersistence.plist";

/** The switches, their names in evidence, and the value that macOS uses if nobody has set one. */
const SWITCHES = [
	["check", "AutomaticCheckEnabled", true],
	["download", "AutomaticDownload", true],
	["install", "AutomaticallyInstallMacOSUpdates", undefined],
	["install_security", "CriticalUpdateInstall", true],
] as const;

/**
 * Returns PASS if the Mac automatically looks for macOS updates, downloads them and installs them,
 * and does not install only security responses (CIS macOS 1.2 to 1.6). Returns FAIL if one of these
 * switches is off. Installing has no default that holds for every version, so the result is UNKNOWN
 * if nobody has chosen. A profile takes precedence over the owner's choice, and a declaration of
 * device management takes precedence over both. A Mac on which no search for updates has succeeded
 * for 60 days fails as well, and so does one on which an update of macOS or Safari has waited for
 * 60 days from when the agent first saw it.
 */
export async function checkAutoUpdate(host: Host): Promise<CheckOutcome> {
	const forced = await readPreferences(host, FORCED);
	const chosen = await readPreferences(host, CHOSEN);
	if (!forced.known) return unknown(forced.reason);
	if (!chosen.known) return unknown(chosen.reason);
	const declared = await readDeclared(host);

	const found: Record<string, boolean> = {};
	let isAllOn = true;
	let isAnyOff = false;
	for (const [name, key, byDefault] of SWITCHES) {
		const value =
			declared[name] ??
			readSwitch(forced.values, key) ??
			readSwitch(chosen.values, key) ??
			byDefault;
		if (value !== undefined) found[name] = value;
		isAllOn &&= value === true;
		isAnyOff ||= value === false;
	}
	const evidence: Evidence = {
		...found,
		managed: forced.values.size > 0 || Object.keys(declared).length > 0,
		...waiting(chosen.values),
	};
	if (isAnyOff) return fail(evidence);
	if (!isAllOn) return unknown("not_configured", evidence);
	const pending = await findPendingUpdates(
		host,
		CHOSEN,
		readNumber(chosen.values, "LastRecommendedUpdatesAvailable"),
	);
	return judgePatchAge(host, pass(evidence), {
		searchDays: await findSearchDays(host),
		pendingDays: daysSince(pending?.since, host.now),
	});
}

/** Returns the days since macOS last searched for updates with success. */
async function findSearchDays(host: Host): Promise<number | undefined> {
	const found: number[] = [];
	for (const key of ["LastSuccessfulDate", "LastFullSuccessfulDate"]) {
		const result = await host.run("plutil", [
			"-extract",
			key,
			"raw",
			"-o",
			"-",
			CHOSEN,
		]);
		const said = result.exitCode === 0 ? result.stdout.trim() : "";
		if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(said)) continue;
		const days = daysSince(Date.parse(said), host.now);
		if (days !== undefined) found.push(days);
	}
	return found.length > 0 ? Math.min(...found) : undefined;
}

/** Returns the number of updates that macOS found last time and has not installed yet. */
function waiting(values: Preferences): Evidence {
	const updates = readNumber(values, "LastRecommendedUpdatesAvailable");
	return updates === undefined ? {} : { pending_updates: updates };
}

/**
 * Reads the switches that a declaration of device management forces on (macOS 15 and later; mSCP
 * reads the same file). Only the value 1, "always on", counts, because the other values are not
 * documented.
 */
async function readDeclared(
	host: Host,
): Promise<Partial<Record<string, true>>> {
	const result = await host.run("plutil", [
		"-extract",
		"SUCorePersistedStatePolicyFields.SUCoreDDMDeclarationGlobalSettings",
		"json",
		"-o",
		"-",
		DECLARED,
	]);
	if (result.ended !== "exited" || result.exitCode !== 0) return {};
	let settings: unknown;
	try {
		settings = JSON.parse(result.stdout);
	} catch {
		return {};
	}
	if (typeof settings !== "object" || settings === null) return {};
	const isOn = (key: string) => {
		const value: unknown = Reflect.get(settings, key);
		return value === 1 || value === true;
	};
	return {
		...(isOn("automaticallyDownload") ? { check: true, download: true } : {}),
		...(isOn("automaticallyInstallOSUpdates") ? { install: true } : {}),
		...(isOn("automaticallyInstallSystemAndSecurityUpdates")
			? { install_security: true }
			: {}),
	};
}
