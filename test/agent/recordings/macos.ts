import type { Recording } from "../recorded-host.ts";
import { SSHD_CONFIG, sshdSays } from "./sshd.ts";

type Commands = NonNullable<Recording["commands"]>;
type Files = NonNullable<Recording["files"]>;

/** Returns a property list in the format of `plutil -convert xml1`. */
export function plistXml(lines: readonly string[]): string {
	const head = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`;
	if (lines.length === 0) return `${head}<dict/>\n</plist>\n`;
	return `${head}<dict>\n${lines.map((line) => `\t${line}\n`).join("")}</dict>\n</plist>\n`;
}

/** Returns a preferences file for a recording, and the plutil command that prints the file. */
export function preferences(
	path: string,
	lines: readonly string[],
): { files: Files; commands: Commands } {
	return {
		files: { [path]: "bplist00\u0000\u0001" },
		commands: { [`plutil -convert xml1 -o - ${path}`]: plistXml(lines) },
	};
}

export const UPDATES = "/Library/Preferences/com.apple.SoftwareUpdate.plist";
export const FORCED_UPDATES =
	"/Library/Managed Preferences/com.apple.SoftwareUpdate.plist";
export const FORCED_SAVER =
	"/Library/Managed Preferences/com.apple.screensaver.plist";
export const FORCED_TIME = "/Library/Managed Preferences/com.apple.timed.plist";
export const DECLARED_UPDATES =
	"plutil -extract SUCorePersistedStatePolicyFields.SUCoreDDMDeclarationGlobalSettings json -o - /var/db/softwareupdate/SoftwareUpdateDDMStatePersistence.plist";
export const XPROTECT_TIME =
	"stat -f %m /private/var/protected/xprotect/XProtect.bundle/Contents/Info.plist";
export const XPROTECT_OLD_TIME =
	"stat -f %m /Library/Apple/System/Library/CoreServices/XProtect.bundle/Contents/Info.plist";
export const LAST_SEARCH = `plutil -extract LastSuccessfulDate raw -o - ${UPDATES}`;
export const XPROTECT_15 =
	"plutil -extract CFBundleShortVersionString raw -o - /private/var/protected/xprotect/XProtect.bundle/Contents/Info.plist";
export const XPROTECT_OLD =
	"plutil -extract CFBundleShortVersionString raw -o - /Library/Apple/System/Library/CoreServices/XProtect.bundle/Contents/Info.plist";
export const REMOTE_MANAGEMENT =
	"/Library/Application Support/Apple/Remote Desktop/RemoteManagement.launchd";
export const FIREWALL =
	"/usr/libexec/ApplicationFirewall/socketfilterfw --getglobalstate";
export const STEALTH =
	"/usr/libexec/ApplicationFirewall/socketfilterfw --getstealthmode";
const AS_USER = "launchctl asuser 501 sudo -n -H -u #501";
export const LOCK_DELAY = `${AS_USER} sysadminctl -screenLock status`;
export const SAVER_IDLE = `${AS_USER} defaults -currentHost read com.apple.screensaver idleTime`;

/** Returns the output of sysadminctl, which it writes to standard error after a timestamp. */
export const lockDelay = (words: string) => ({
	stderr: `2026-11-21 09:41:07.123 sysadminctl[4711:81234] screenLock ${words}\n`,
});

export const PROGRAMS = "ps -axwwo comm=";
export const SOCKETS = "netstat -an -p tcp";

/** Returns the paths of all programs that run, with these among them. */
export const programs = (...paths: string[]) =>
	["/sbin/launchd", "/usr/libexec/logd", ...paths, "/bin/zsh", "-zsh", ""].join(
		"\n",
	);

/** Returns the TCP sockets in the format of netstat. */
export const sockets = (...lines: string[]) =>
	[
		"Active Internet connections (including servers)",
		"Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)    ",
		"tcp4       0      0  192.168.1.7.52000      203.0.113.9.443        ESTABLISHED",
		...lines,
		"",
	].join("\n");

export const notLoaded = (label: string) => ({
	exitCode: 113,
	stderr: `Bad request.\nCould not find service "${label}" in domain for system\n`,
});

export const loaded = (label: string) => `system/${label} = {
	active count = 0
	path = /System/Library/LaunchDaemons/ssh.plist
	type = LaunchDaemon
	state = not running
}
`;

export const disabledServices = (lines: readonly string[] = []) =>
	`\n\tdisabled services = {\n\t\t"com.apple.CSCSupportd" => disabled\n${lines
		.map((line) => `\t\t${line}\n`)
		.join("")}\t}\n`;

export const accountPolicy = (rules: readonly string[], more = "") =>
	`Getting global account policies
${plistXml([
	"<key>policyCategoryPasswordContent</key>",
	"<array>",
	...rules.flatMap((rule) => [
		"\t<dict>",
		"\t\t<key>policyContent</key>",
		`\t\t<string>${rule}</string>`,
		"\t\t<key>policyIdentifier</key>",
		"\t\t<string>com.apple.defaultpasswordpolicy.fde</string>",
		"\t</dict>",
	]),
	"</array>",
	more,
])}`;

const powerSettings = (battery: number, ac: number) => `Battery Power:
 Sleep On Power Button 1
 lowpowermode         1
 standby              1
 displaysleep         ${battery}
 sleep                1
AC Power:
 Sleep On Power Button 1
 standby              1
 displaysleep         ${ac}
 disksleep            10
`;

export const pmset = (battery: number, ac: number): Commands => ({
	"pmset -g custom": powerSettings(battery, ac),
});

const updates = preferences(UPDATES, [
	"<key>AutomaticCheckEnabled</key>",
	"<true/>",
	"<key>AutomaticDownload</key>",
	"<true/>",
	"<key>AutomaticallyInstallMacOSUpdates</key>",
	"<true/>",
	"<key>ConfigDataInstall</key>",
	"<true/>",
	"<key>CriticalUpdateInstall</key>",
	"<true/>",
	"<key>LastRecommendedUpdatesAvailable</key>",
	"<integer>1</integer>",
	"<key>LastSuccessfulDate</key>",
	"<date>2026-11-20T21:14:05Z</date>",
	"<key>RecommendedUpdates</key>",
	"<array>",
	"\t<dict>",
	"\t\t<key>AutomaticDownload</key>",
	"\t\t<false/>",
	"\t\t<key>Display Name</key>",
	"\t\t<string>macOS Tahoe 26.1</string>",
	"\t</dict>",
	"</array>",
]);

/** A managed laptop on which every check passes. The agent runs as root. */
export const GOOD_MAC: Recording = {
	platform: "DARWIN",
	commands: {
		"ioreg -rd1 -c IOPlatformExpertDevice": `+-o J314sAP  <class IOPlatformExpertDevice, id 0x100000258, registered, matched, active, busy 0 (28331 ms), retain 40>
    {
      "manufacturer" = <"Apple Inc.">
      "IOPlatformSerialNumber" = "F2LW7K9QXH"
      "IOPolledInterface" = "AppleARMWatchdogTimerHibernateHandler is not serializable"
      "IOPlatformUUID" = "6F1C3B0A-92D4-5E7B-8A11-0C4D2E9F7A63"
      "model" = <"MacBookPro18,3">
    }
    
`,
		sw_vers:
			"ProductName:\t\tmacOS\nProductVersion:\t\t26.1\nBuildVersion:\t\t25B78\n",
		"fdesetup status": "FileVault is On.\n",
		"stat -f %u /dev/console": "501\n",
		[LOCK_DELAY]: lockDelay("delay is immediate"),
		[SAVER_IDLE]: "600\n",
		...pmset(2, 10),
		[FIREWALL]: "Firewall is enabled. (State = 1) \n",
		[STEALTH]: "Firewall stealth mode is on\n",
		"systemsetup -getusingnetworktime": "Network Time: On\n",
		"pwpolicy -getaccountpolicies": accountPolicy(
			[
				"policyAttributePassword matches '.{4,}+'",
				"policyAttributePassword matches '.{12,}'",
			],
			"<key>policyAttributeMaximumFailedAuthentications</key>\n\t<integer>10</integer>",
		),
		[PROGRAMS]: programs(),
		[SOCKETS]: sockets(),
		"launchctl print-disabled system": disabledServices([
			'"com.openssh.sshd" => disabled',
		]),
		"launchctl print system/com.openssh.sshd": notLoaded("com.openssh.sshd"),
		"launchctl print system/com.apple.screensharing": notLoaded(
			"com.apple.screensharing",
		),
		"spctl --status": "assessments enabled\n",
		"csrutil status": "System Integrity Protection status: enabled.\n",
		[XPROTECT_15]: "5321\n",
		[XPROTECT_TIME]: `${Date.parse("2026-11-11") / 1000}\n`,
		[LAST_SEARCH]: "2026-11-20T08:14:02Z\n",
		...updates.commands,
	},
	files: { "/etc/ssh/sshd_config": SSHD_CONFIG, ...updates.files },
};

/** A laptop on which every check fails. */
export const BAD_MAC: Recording = {
	platform: "DARWIN",
	commands: {
		...GOOD_MAC.commands,
		sw_vers:
			"ProductName:\t\tmacOS\nProductVersion:\t\t13.7.8\nBuildVersion:\t\t22H730\n",
		"fdesetup status": "FileVault is Off.\n",
		[LOCK_DELAY]: lockDelay("is off"),
		[FIREWALL]: "Firewall is disabled. (State = 0) \n",
		[STEALTH]: "Firewall stealth mode is off\n",
		"systemsetup -getusingnetworktime": "Network Time: Off\n",
		"pwpolicy -getaccountpolicies": accountPolicy([
			"policyAttributePassword matches '.{4,}+'",
		]),
		"launchctl print-disabled system": disabledServices([
			'"com.openssh.sshd" => enabled',
		]),
		"launchctl print system/com.openssh.sshd": loaded("com.openssh.sshd"),
		"sshd -T": sshdSays({ passwordauthentication: "yes" }),
		"spctl --status": { exitCode: 1, stdout: "assessments disabled\n" },
		"csrutil status": "System Integrity Protection status: disabled.\n",
		...preferences(UPDATES, [
			"<key>AutomaticCheckEnabled</key>",
			"<false/>",
			"<key>AutomaticallyInstallMacOSUpdates</key>",
			"<false/>",
		]).commands,
	},
	files: { ...updates.files },
};
