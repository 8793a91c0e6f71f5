import { commands, type Fixes, SSH_KEYS } from "./fix.ts";

/** What to do about a failing check on macOS. */
export const MACOS_FAILURES: Fixes = {
	DISK_ENCRYPTION: [
		{
			when: { field: "deferred", is: true },
			fix: "Sign out and sign in again. macOS then asks for the password and turns FileVault on.",
		},
		{
			when: { field: "state", is: "decrypting" },
			fix: "Somebody turned FileVault off. Turn it on again in System Settings → Privacy & Security → FileVault.",
		},
		{
			fix: `Open System Settings → Privacy & Security → FileVault and select Turn On. Keep the recovery key in a safe place.${commands("`sudo fdesetup enable`")}`,
		},
	],
	SCREEN_LOCK: [
		{
			when: { field: "lock_enabled", is: false },
			fix: 'Open System Settings → Lock Screen and set "Require password after screen saver begins or display is turned off" to Immediately.',
		},
		{
			fix: 'Open System Settings → Lock Screen. Let the screen saver start or the display turn off sooner, and set "Require password" to Immediately.',
		},
	],
	FIREWALL_ENABLED: [
		{
			fix: `Open System Settings → Network → Firewall and turn it on.${commands("`sudo /usr/libexec/ApplicationFirewall/socketfilterfw --setglobalstate on`")}`,
		},
	],
	TIME_SYNC: [
		{
			fix: `Open System Settings → General → Date & Time and turn on “Set time and date automatically”.${commands("`sudo systemsetup -setusingnetworktime on`")}`,
		},
	],
	OS_VERSION: [
		{
			fix: "Open System Settings → General → Software Update and upgrade macOS. Replace a Mac that no supported version runs on.",
		},
	],
	AUTO_UPDATE: [
		{
			when: { field: "overdue", is: "pending_update_days" },
			fix: `Open System Settings → General → Software Update, install the update and restart.${commands("`sudo softwareupdate --install --all --restart`")}`,
		},
		{
			when: { field: "patches_current", is: false },
			fix: `Open System Settings → General → Software Update and install what it offers.${commands("`softwareupdate --list`")}`,
		},
		{
			fix: `Open System Settings → General → Software Update, select the (i) beside Automatic Updates and turn on all switches.${commands("`sudo softwareupdate --schedule on`, or a configuration profile")}`,
		},
	],
	PASSWORD_POLICY: [
		{
			fix: "Ask an administrator to set a minimum length for passwords with a configuration profile (payload Passcode, `minLength`).",
		},
	],
	REMOTE_LOGIN: [
		{
			when: { field: "screen_sharing", is: true },
			fix: "Open System Settings → General → Sharing and turn off Screen Sharing.",
		},
		{
			when: { field: "remote_management", is: true },
			fix: "Open System Settings → General → Sharing and turn off Remote Management.",
		},
		{
			when: { field: "open_services" },
			fix: `A product for remote control runs on the Mac. The evidence names it. Remove it, or let it run only while somebody needs help.${commands("`sudo launchctl list` shows its service, `sudo launchctl bootout system/NAME` stops it")}`,
		},
		{
			fix: `Open System Settings → General → Sharing and turn off Remote Login. If you need it: ${SSH_KEYS}${commands("`sudo systemsetup -setremotelogin off`")}`,
		},
	],
	MALWARE_PROTECTION: [
		{
			when: { field: "definitions_current", is: false },
			fix: "Open System Settings → General → Software Update → Automatic Updates and turn on security responses and system files. They renew the definitions of XProtect.",
		},
		{
			when: { field: "gatekeeper", is: false },
			fix: `Open System Settings → Privacy & Security and allow applications only from the App Store and known developers.${commands("`sudo spctl --global-enable`")}`,
		},
		{
			fix: "Turn System Integrity Protection on. Start the Mac in recovery mode, open Terminal, run `csrutil enable` and restart.",
		},
	],
};
