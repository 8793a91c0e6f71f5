import { describe, expect, test } from "vitest";
import { MACOS_CHECKS } from "../../agent/checks/macos/all.ts";
import { runChecks } from "../../agent/checks/run-checks.ts";
import { findFacts } from "../../agent/facts/macos.ts";
import { HOSTILE_TEXTS, MARKER, sayingAlso, sayingOnly } from "./hostile.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { type Change, changed, tableOf } from "./recorded-table.ts";
import {
	accountPolicy,
	BAD_MAC,
	DECLARED_UPDATES,
	disabledServices,
	FIREWALL,
	FORCED_SAVER,
	FORCED_TIME,
	FORCED_UPDATES,
	GOOD_MAC,
	LOCK_DELAY,
	loaded,
	lockDelay,
	notLoaded,
	pmset,
	preferences,
	REMOTE_MANAGEMENT,
	SAVER_IDLE,
	STEALTH,
	UPDATES,
	XPROTECT_15,
	XPROTECT_OLD,
} from "./recordings/macos.ts";
import { sshdSays } from "./recordings/sshd.ts";

const mac = (change: Change) => changed(GOOD_MAC, change);
const table = tableOf(GOOD_MAC, MACOS_CHECKS);
const commands = (said: Recording["commands"]): Change => ({
	commands: said ?? {},
});
const ordinaryUser: Change = { isPrivileged: false };

table("DISK_ENCRYPTION", [
	["on", {}, "PASS", { engine: "filevault", state: "on" }],
	[
		"off",
		commands({ "fdesetup status": "FileVault is Off.\n" }),
		"FAIL",
		{ engine: "filevault", state: "off" },
	],
	[
		"off until the user next signs in",
		commands({
			"fdesetup status":
				"FileVault is Off.\nDeferred enablement appears to be active for user 'jane'.\n",
		}),
		"FAIL",
		{ engine: "filevault", state: "off", deferred: true },
	],
	[
		"off until the next restart",
		commands({
			"fdesetup status":
				"FileVault is Off, but will be enabled after the next restart.\n",
		}),
		"FAIL",
		{ engine: "filevault", state: "off", deferred: true },
	],
	[
		"being encrypted",
		commands({
			"fdesetup status":
				"FileVault is On.\nEncryption in progress: Percent completed = 42.31\n",
		}),
		"UNKNOWN",
		{
			reason: "encryption_in_progress",
			engine: "filevault",
			percent_done: 42,
			state: "encrypting",
		},
	],
	[
		"waiting for the charger",
		commands({
			"fdesetup status": "FileVault is On.\nEncryption in progress: Pending\n",
		}),
		"UNKNOWN",
		{
			reason: "encryption_in_progress",
			engine: "filevault",
			state: "encrypting",
		},
	],
	[
		"being decrypted",
		commands({
			"fdesetup status":
				"FileVault is Off.\nDecryption in progress: Percent completed = 8\n",
		}),
		"FAIL",
		{ engine: "filevault", percent_done: 8, state: "decrypting" },
	],
	[
		"on behind a master keychain's line",
		commands({
			"fdesetup status":
				"FileVault master keychain appears to be installed.\nFileVault is On.\n",
		}),
		"PASS",
		{ engine: "filevault", state: "on" },
	],
	[
		"no answer in time",
		commands({ "fdesetup status": { ended: "timed_out" } }),
		"UNKNOWN",
		{ reason: "timed_out" },
	],
	[
		"an error",
		commands({ "fdesetup status": { exitCode: 1, stderr: "Error: -69594" } }),
		"UNKNOWN",
		{ reason: "command_failed" },
	],
	[
		"other words",
		commands({ "fdesetup status": "FileVault is Onerous\n" }),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);

const lock = {
	lock_enabled: true,
	lock_delay_seconds: 0,
	managed: false,
};

table("SCREEN_LOCK", [
	[
		"the saver after 10 minutes, asking at once",
		{},
		"PASS",
		{
			...lock,
			screen_saver_seconds: 600,
			display_off_seconds: 600,
			idle_seconds: 600,
		},
	],
	[
		"no saver, the display off after 10 minutes",
		commands({
			[SAVER_IDLE]: "0\n",
			[LOCK_DELAY]: lockDelay("delay is 300 seconds"),
		}),
		"PASS",
		{
			...lock,
			lock_delay_seconds: 300,
			screen_saver_seconds: 0,
			display_off_seconds: 600,
			idle_seconds: 900,
		},
	],
	[
		"the same with a delay of an hour",
		commands({ [LOCK_DELAY]: lockDelay("delay is 3600 seconds") }),
		"FAIL",
		{
			...lock,
			lock_delay_seconds: 3600,
			screen_saver_seconds: 600,
			display_off_seconds: 600,
			idle_seconds: 4200,
		},
	],
	[
		"no password asked for",
		commands({ [LOCK_DELAY]: lockDelay("is off") }),
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"no password asked for, said in seconds",
		commands({ [LOCK_DELAY]: lockDelay("delay is -1.000000 seconds") }),
		"FAIL",
		{ lock_enabled: false },
	],
	[
		"neither saver nor display ever",
		commands({ [SAVER_IDLE]: "0\n", ...pmset(2, 0) }),
		"FAIL",
		{ ...lock, screen_saver_seconds: 0, display_off_seconds: 0 },
	],
	[
		"both after 20 minutes",
		commands({ [SAVER_IDLE]: "1200\n", ...pmset(20, 20) }),
		"FAIL",
		{
			...lock,
			screen_saver_seconds: 1200,
			display_off_seconds: 1200,
			idle_seconds: 1200,
		},
	],
	[
		"a saver never set and a display that stays on",
		{
			...commands({
				[SAVER_IDLE]: {
					exitCode: 1,
					stderr:
						"2026-11-21 09:41:08.001 defaults[4712:81240] \nThe domain/default pair of (com.apple.screensaver, idleTime) does not exist\n",
				},
				...pmset(0, 0),
			}),
		},
		"UNKNOWN",
		{ reason: "idle_time_not_known", ...lock, display_off_seconds: 0 },
	],
	[
		"nobody at the screen",
		commands({ "stat -f %u /dev/console": "0\n" }),
		"UNKNOWN",
		{ reason: "no_console_user" },
	],
	[
		"nobody at the screen of a managed Mac",
		{
			commands: {
				"stat -f %u /dev/console": "0\n",
				...preferences(FORCED_SAVER, [
					"<key>askForPassword</key>",
					"<true/>",
					"<key>askForPasswordDelay</key>",
					"<integer>5</integer>",
					"<key>idleTime</key>",
					"<integer>300</integer>",
				]).commands,
			},
			files: preferences(FORCED_SAVER, []).files,
		},
		"PASS",
		{
			lock_enabled: true,
			lock_delay_seconds: 5,
			screen_saver_seconds: 300,
			display_off_seconds: 600,
			managed: true,
			idle_seconds: 305,
		},
	],
	[
		"an agent without root, for its own user",
		{
			isPrivileged: false,
			commands: {
				"sysadminctl -screenLock status": lockDelay("delay is 5 seconds"),
				"defaults -currentHost read com.apple.screensaver idleTime": "300\n",
			},
			without: [LOCK_DELAY, SAVER_IDLE],
		},
		"PASS",
		{
			...lock,
			lock_delay_seconds: 5,
			screen_saver_seconds: 300,
			display_off_seconds: 600,
			idle_seconds: 305,
		},
	],
	[
		"no answer from sysadminctl",
		commands({ [LOCK_DELAY]: { ended: "timed_out" } }),
		"UNKNOWN",
		{ reason: "timed_out" },
	],
]);

table("FIREWALL_ENABLED", [
	[
		"on",
		{},
		"PASS",
		{
			engine: "application_firewall",
			enabled: true,
			block_all: false,
			stealth: true,
		},
	],
	[
		"blocking everything, with the words of macOS 12",
		commands({
			[FIREWALL]:
				"Firewall is blocking all non-essential incoming connections. (State = 2) \n",
			[STEALTH]: "Stealth mode disabled \n",
		}),
		"PASS",
		{
			engine: "application_firewall",
			enabled: true,
			block_all: true,
			stealth: false,
		},
	],
	[
		"off",
		commands({ [FIREWALL]: "Firewall is disabled. (State = 0) \n" }),
		"FAIL",
		{ engine: "application_firewall", enabled: false },
	],
	[
		"no such program",
		{ without: [FIREWALL] },
		"UNKNOWN",
		{ reason: "command_missing" },
	],
	[
		"an error that mentions the state",
		commands({
			[FIREWALL]: { exitCode: 1, stderr: "Firewall is enabled. (State = 1)" },
		}),
		"UNKNOWN",
		{ reason: "command_failed" },
	],
]);

table("TIME_SYNC", [
	["on", {}, "PASS", { service: "timed", enabled: true, managed: false }],
	[
		"off",
		commands({ "systemsetup -getusingnetworktime": "Network Time: Off\n" }),
		"FAIL",
		{ service: "timed", enabled: false, managed: false },
	],
	[
		"without root, which systemsetup says with exit code 0",
		{
			...ordinaryUser,
			...commands({
				"systemsetup -getusingnetworktime":
					"You need administrator access to run this tool... exiting!\n",
			}),
		},
		"UNKNOWN",
		{ reason: "needs_root" },
	],
	[
		"forced by a profile, without root",
		{
			...ordinaryUser,
			...preferences(FORCED_TIME, [
				"<key>TMAutomaticTimeOnlyEnabled</key>",
				"<true/>",
			]),
			without: ["systemsetup -getusingnetworktime"],
		},
		"PASS",
		{ service: "timed", enabled: true, managed: true },
	],
	[
		"other words",
		commands({ "systemsetup -getusingnetworktime": "### Error:-99\n" }),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);

const version = (name: string, build: string, now?: string): Change => ({
	...commands({
		sw_vers: `ProductName:\t\tmacOS\nProductVersion:\t\t${name}\nProductVersionExtra:\t(a)\nBuildVersion:\t\t${build}\n`,
	}),
	...(now === undefined ? {} : { now }),
});

table("OS_VERSION", [
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
		"the last that still gets updates",
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
		"the first that gets none",
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
		"one with another numbering",
		version("10.15.7", "19H15"),
		"FAIL",
		{ version: "10.15.7", build: "19H15", supported: false },
	],
	[
		"one that this program does not know yet",
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
		"one whose end an old program can only guess",
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

const chosen = (lines: string[], declared?: string): Change => {
	const { files, commands: said } = preferences(UPDATES, lines);
	return {
		files,
		commands: {
			...said,
			...(declared === undefined ? {} : { [DECLARED_UPDATES]: declared }),
		},
	};
};

table("AUTO_UPDATE", [
	[
		"all switched on",
		{},
		"PASS",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: false,
			pending_updates: 1,
		},
	],
	[
		"installing switched off",
		chosen(["<key>AutomaticallyInstallMacOSUpdates</key>", "<false/>"]),
		"FAIL",
		{
			check: true,
			download: true,
			install: false,
			install_security: true,
			managed: false,
		},
	],
	[
		"switched on but never looked for, written as a number",
		chosen([
			"<key>AutomaticCheckEnabled</key>",
			"<integer>0</integer>",
			"<key>AutomaticallyInstallMacOSUpdates</key>",
			"<integer>1</integer>",
		]),
		"FAIL",
		{
			check: false,
			download: true,
			install: true,
			install_security: true,
			managed: false,
		},
	],
	[
		"nothing chosen",
		{ without: [UPDATES] },
		"UNKNOWN",
		{
			reason: "not_configured",
			check: true,
			download: true,
			install_security: true,
			managed: false,
		},
	],
	[
		"a profile against the owner's choice",
		{
			files: preferences(FORCED_UPDATES, []).files,
			commands: preferences(FORCED_UPDATES, [
				"<key>AutomaticallyInstallMacOSUpdates</key>",
				"<false/>",
			]).commands,
		},
		"FAIL",
		{
			check: true,
			download: true,
			install: false,
			install_security: true,
			managed: true,
			pending_updates: 1,
		},
	],
	[
		"a declaration that forces them on",
		chosen(
			["<key>AutomaticallyInstallMacOSUpdates</key>", "<false/>"],
			'{"automaticallyDownload":1,"automaticallyInstallOSUpdates":1,"automaticallyInstallSystemAndSecurityUpdates":1}',
		),
		"PASS",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: true,
		},
	],
	[
		"a declaration that leaves it to the owner",
		chosen(
			["<key>AutomaticallyInstallMacOSUpdates</key>", "<true/>"],
			'{"automaticallyInstallOSUpdates":0,"minorOSDeferralPeriod":7}',
		),
		"PASS",
		{
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: false,
		},
	],
	[
		"a file that plutil cannot read",
		commands({
			[`plutil -convert xml1 -o - ${UPDATES}`]: {
				exitCode: 1,
				stdout: `${UPDATES}: Property List error: Unexpected character b at line 1\n`,
			},
		}),
		"UNKNOWN",
		{ reason: "command_failed" },
	],
]);

const policy = (said: string): Change =>
	commands({ "pwpolicy -getaccountpolicies": said });

table("PASSWORD_POLICY", [
	[
		"12 characters, and a lockout",
		{},
		"PASS",
		{ minimum_length: 12, lockout_after_failures: 10 },
	],
	[
		"the rule of a Mac that nobody manages",
		policy(accountPolicy(["policyAttributePassword matches '.{4,}+'"])),
		"FAIL",
		{ minimum_length: 4 },
	],
	[
		"a rule anchored at both ends",
		policy(accountPolicy(["policyAttributePassword matches '^.{8,}$'"])),
		"PASS",
		{ minimum_length: 8 },
	],
	[
		"no policy",
		policy("Getting global account policies\n"),
		"FAIL",
		{ minimum_length: 0, policy_set: false },
	],
	[
		"a policy only on kinds of characters",
		policy(
			accountPolicy([
				"policyAttributePassword matches '.{4,}+'",
				"policyAttributePassword matches '(.*[^a-zA-Z0-9].*){1,}'",
			]),
		),
		"FAIL",
		{ minimum_length: 4 },
	],
	[
		"a rule that says more than a length",
		policy(
			accountPolicy([
				"policyAttributePassword matches '.{4,}+'",
				"policyAttributePassword matches '^(?=.*[0-9])(?=.*[a-zA-Z]).{10,}'",
			]),
		),
		"UNKNOWN",
		{ reason: "rule_not_understood", minimum_length: 4 },
	],
	[
		"a length that stands only in a description",
		policy(
			accountPolicy(
				["policyAttributePassword matches '.{4,}+'"],
				"<key>policyContentDescription</key>\n\t<string>policyAttributePassword matches '.{20,}'</string>",
			),
		),
		"FAIL",
		{ minimum_length: 4 },
	],
	[
		"no rights",
		{
			...ordinaryUser,
			commands: {
				"pwpolicy -getaccountpolicies": { exitCode: 77, stderr: "Error" },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root" },
	],
	[
		"half a list",
		policy(
			accountPolicy(["policyAttributePassword matches '.{12,}'"]).slice(0, 400),
		),
		"UNKNOWN",
		{ reason: "unrecognized_output" },
	],
]);

const allOff = {
	ssh_running: false,
	screen_sharing: false,
	remote_management: false,
};
const sshOn = {
	"launchctl print system/com.openssh.sshd": loaded("com.openssh.sshd"),
	"launchctl print-disabled system": disabledServices([
		'"com.openssh.sshd" => enabled',
	]),
};

table("REMOTE_LOGIN", [
	["all off", {}, "PASS", allOff],
	[
		"all off and never touched",
		commands({ "launchctl print-disabled system": disabledServices() }),
		"PASS",
		allOff,
	],
	[
		"SSH on with passwords",
		commands({
			...sshOn,
			"sshd -T": sshdSays({ kbdinteractiveauthentication: "yes" }),
		}),
		"FAIL",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"SSH on with keys only",
		commands({ ...sshOn, "sshd -T": sshdSays() }),
		"PASS",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: false,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"SSH on, its settings for root alone",
		{
			...ordinaryUser,
			commands: {
				...sshOn,
				"sshd -T": { exitCode: 1, stderr: "sshd: no hostkeys available" },
				"sshd -G": { exitCode: 1 },
			},
		},
		"UNKNOWN",
		{ reason: "needs_root", ...allOff, ssh_running: true },
	],
	[
		"SSH not loaded yet but enabled, with the words of macOS 12",
		commands({
			"launchctl print-disabled system": disabledServices([
				'"com.openssh.sshd" => false',
			]),
			"sshd -T": sshdSays({ passwordauthentication: "yes" }),
		}),
		"FAIL",
		{
			...allOff,
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "prohibit-password",
			loopback_only: false,
		},
	],
	[
		"Screen Sharing on",
		commands({
			"launchctl print system/com.apple.screensharing": loaded(
				"com.apple.screensharing",
			),
		}),
		"FAIL",
		{ ...allOff, screen_sharing: true },
	],
	[
		"Remote Management on",
		{ files: { [REMOTE_MANAGEMENT]: "enabled\n" } },
		"FAIL",
		{ ...allOff, remote_management: true },
	],
	[
		"Remote Management in a file that may not be read",
		{ files: { [REMOTE_MANAGEMENT]: { kind: "denied" } } },
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			ssh_running: false,
			screen_sharing: false,
		},
	],
	[
		"launchd does not answer",
		commands({
			"launchctl print system/com.openssh.sshd": { ended: "timed_out" },
		}),
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			screen_sharing: false,
			remote_management: false,
		},
	],
	[
		"another error than an unknown service",
		commands({
			"launchctl print system/com.apple.screensharing": {
				...notLoaded("x"),
				stderr: "Operation not permitted\n",
			},
		}),
		"UNKNOWN",
		{
			reason: "service_state_not_known",
			ssh_running: false,
			remote_management: false,
		},
	],
]);

const malware = {
	engine: "xprotect",
	definitions_version: "5321",
	gatekeeper: true,
	system_integrity_protection: true,
};

table("MALWARE_PROTECTION", [
	["all on", {}, "PASS", malware],
	[
		"definitions where they were before macOS 15",
		{ without: [XPROTECT_15], commands: { [XPROTECT_OLD]: "2190\n" } },
		"PASS",
		{ ...malware, definitions_version: "2190" },
	],
	[
		"Gatekeeper off",
		commands({
			"spctl --status": { exitCode: 1, stdout: "assessments disabled\n" },
		}),
		"FAIL",
		{ ...malware, gatekeeper: false },
	],
	[
		"integrity protection off",
		commands({
			"csrutil status": "System Integrity Protection status: disabled.\n",
		}),
		"FAIL",
		{ ...malware, system_integrity_protection: false },
	],
	[
		"parts of integrity protection off",
		commands({
			"csrutil status":
				"System Integrity Protection status: unknown (Custom Configuration).\n\nConfiguration:\n\tApple Internal: disabled\n\tKext Signing: enabled\n\tFilesystem Protections: disabled\n\nThis is an unsupported configuration, likely to break in the future and leave your machine in an unknown state.\n",
		}),
		"FAIL",
		{ ...malware, system_integrity_protection: false },
	],
	[
		"no definitions",
		{ without: [XPROTECT_15] },
		"UNKNOWN",
		{
			reason: "definitions_not_found",
			engine: "xprotect",
			gatekeeper: true,
			system_integrity_protection: true,
		},
	],
	[
		"no word of Gatekeeper",
		{ without: ["spctl --status"] },
		"UNKNOWN",
		{
			reason: "gatekeeper_not_known",
			engine: "xprotect",
			definitions_version: "5321",
			system_integrity_protection: true,
		},
	],
]);

describe("facts", () => {
	const facts = (change: Change) => findFacts(recordedHost(mac(change)));

	test("a Mac names itself by its platform UUID and serial number", async () => {
		expect(await facts({})).toEqual({
			hardware_uuid: "6F1C3B0A-92D4-5E7B-8A11-0C4D2E9F7A63",
			serial_number: "F2LW7K9QXH",
			os_version: "macOS 26.1 (25B78)",
		});
	});

	test("a virtual machine without a serial number says none", async () => {
		const tree = `    {\n      "IOPlatformSerialNumber" = "0"\n      "IOPlatformUUID" = "564D8D2A-1111-2222-3333-444455556666"\n    }\n`;
		expect(
			await facts(commands({ "ioreg -rd1 -c IOPlatformExpertDevice": tree })),
		).toMatchObject({
			hardware_uuid: "564D8D2A-1111-2222-3333-444455556666",
			serial_number: undefined,
		});
	});

	test("what cannot be found out is left out", async () => {
		expect(await findFacts(recordedHost({ platform: "DARWIN" }))).toEqual({
			hardware_uuid: undefined,
			serial_number: undefined,
			os_version: "",
		});
	});
});

describe("hostile output", () => {
	test("the recordings it is put into pass and fail in all nine", async () => {
		const statuses = async (recording: Recording) =>
			(await runChecks(MACOS_CHECKS, recordedHost(recording))).map(
				({ status }) => status,
			);
		expect(await statuses(GOOD_MAC)).toEqual(Array(9).fill("PASS"));
		expect(await statuses(BAD_MAC)).toEqual(Array(9).fill("FAIL"));
	});

	test.each(
		Object.entries(HOSTILE_TEXTS),
	)("%s: no check passes for it, quotes it or breaks", async (_, text) => {
		const onlyText = await collect(sayingOnly(GOOD_MAC, text));
		for (const { status } of onlyText) expect(status).not.toBe("PASS");
		for (const recording of sayingAlso(BAD_MAC, text)) {
			for (const { status } of await collect(recording)) {
				expect(status).not.toBe("PASS");
			}
		}
		for (const recording of sayingAlso(GOOD_MAC, text)) {
			await collect(recording);
		}
	});

	/** The nine results, of which none may have crashed, quote the marker or be large. */
	async function collect(recording: Recording) {
		const crashed: string[] = [];
		const results = await runChecks(MACOS_CHECKS, recordedHost(recording), {
			onCrash: (key) => crashed.push(key),
		});
		expect(crashed).toEqual([]);
		const json = JSON.stringify(results.map(({ evidence }) => evidence));
		expect(json).not.toContain(MARKER);
		expect(json.length).toBeLessThan(4096);
		const facts = await findFacts(recordedHost(recording));
		expect(JSON.stringify(facts)).not.toContain(MARKER);
		return results;
	}
});
