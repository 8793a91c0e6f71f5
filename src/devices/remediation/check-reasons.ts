import { LOOK_AGAIN, type ReasonText } from "./reason-text.ts";

const IN_USE =
	"Sign in and use the device. The agent reads the settings of the user who is signed in.";

const LOCK_SOON =
	"Set the screen to lock in time, and show an administrator the setting. Your organization allows {lock_time}.";

/** Reasons of single checks, which depend on what the check reads. */
export const CHECK_REASONS = {
	// Disk encryption.
	bitlocker_not_installed: {
		says: "BitLocker is not installed",
		fix: "Install the feature BitLocker Drive Encryption and turn it on for every drive.\nAdministrators: `Install-WindowsFeature BitLocker -Restart`",
	},
	device_not_recognized: {
		says: "the agent does not know how a volume is encrypted",
		fix: "Show an administrator the output of `lsblk -f`. Every volume with data must lie on LUKS or on encrypted ZFS.",
	},
	encryption_in_progress: {
		says: "the disk is still being encrypted",
		fix: "Leave the Mac on and connected to power until FileVault has finished.",
	},
	file_system_not_known: {
		says: "the agent does not know this file system",
		fix: "Show an administrator the output of `mount` and `geli status`.",
	},
	protection_unknown: {
		says: "BitLocker does not say whether the drive is protected",
		fix: "Unlock the drive, then look at Settings → Privacy & security → Device encryption.\nAdministrators: `manage-bde -status`",
	},
	restart_pending: {
		says: "FileVault needs a restart to finish",
		fix: "Restart the Mac.",
	},
	root_device_not_recognized: {
		says: "the agent does not know the disk of the system",
		fix: "Show an administrator the output of `lsblk -f` and `findmnt /`.",
	},
	storage_not_recognized: {
		says: "the agent does not know the storage of the system",
		fix: "Show an administrator the output of `mount`, `zpool status` and `geli status`.",
	},
	image_file_not_known: {
		says: "a drive lies in an image file (VHD), and the agent does not know whether the drive that holds the file is encrypted",
		fix: "Move the file to an encrypted internal drive, or turn on BitLocker for the drive in it.\nAdministrators: `Get-Disk | Where-Object BusType -eq 'File Backed Virtual' | Select-Object Number, Location`",
	},
	swap_not_recognized: {
		says: "the agent does not know whether the swap space is encrypted",
		fix: "Show an administrator the output of `swapinfo`. In /etc/fstab, the device of the swap space must end in `.eli`.",
	},
	system_drive_not_listed: {
		says: "BitLocker does not list the system drive",
		fix: "Ask an administrator to look at the drive.\nAdministrators: `manage-bde -status $env:SystemDrive`",
	},
	third_party_encryption: {
		says: "another product encrypts the disk, and the agent cannot ask it",
		fix: "Show an administrator that this product reports the disk as encrypted.",
	},

	// Screen lock.
	account_not_found: {
		says: "the account of the user who is signed in was not found",
		fix: LOOK_AGAIN,
	},
	command_line_not_readable: {
		says: "the options of a running program could not be read",
		fix: LOOK_AGAIN,
	},
	desktop_not_recognized: {
		says: "the agent does not know this desktop's lock",
		fix: LOCK_SOON,
	},
	desktop_not_supported: {
		says: "the agent does not know this desktop",
		fix: LOCK_SOON,
	},
	desktop_settings_not_read: {
		says: "the agent cannot read this desktop's settings",
		fix: LOCK_SOON,
	},
	idle_time_not_known: {
		says: "no time is set after which the screen saver starts or the display turns off",
		fix: "Open System Settings → Lock Screen and choose times for the screen saver and the display.",
	},
	lock_command_not_recognized: {
		says: "the agent does not know the command that should lock the screen",
		fix: "Let the idle daemon start a screen locker such as swaylock or i3lock.",
	},
	locker_settings_not_read: {
		says: "the agent cannot read the settings of the screen locker",
		fix: LOCK_SOON,
	},
	no_console_user: { says: "nobody is signed in at the screen", fix: IN_USE },
	no_user_session: { says: "nobody is signed in", fix: IN_USE },
	nobody_logged_in: { says: "nobody is signed in at the screen", fix: IN_USE },
	timeout_not_known: {
		says: "the agent does not know when the screen locks",
		fix: "Set the screen to lock in time in the desktop's settings. Your organization allows {lock_time}.",
	},
	screen_saver_not_chosen: {
		says: "a screen saver should lock the device, but none is chosen",
		fix: "Open Settings → Personalization → Lock screen → Screen saver and choose one, for example Blank.\nAdministrators: set the policy Interactive logon: Machine inactivity limit",
	},
	managed_limit_not_enforced: {
		says: "device management sets a time until the lock, but does not require a password",
		fix: "Ask an administrator to require a password in device management (`DevicePasswordEnabled` = 0).",
	},

	// Firewall.
	rules_not_decidable: {
		says: "the agent cannot tell what the firewall's rules do with a new packet",
		fix: "Show an administrator the rules. The first rule about all new packets must drop or reject them, and must not leave the decision to a mark or another program.",
	},
	vpn_not_filtered: {
		says: "the firewall lets in everything from a VPN, and strangers may reach the device through it",
		fix: "Ask an administrator to let in only single services from the VPN, or to send only the VPN's own networks through it. With Tailscale, this means no exit node.\nAdministrators: `ip route get 93.184.216.34` names the interface to the internet, and `nft list ruleset` and `iptables-save` show the rules",
	},
	default_not_known: {
		says: "the agent cannot tell what the firewall does with a new packet",
		fix: "Begin the rules with one that blocks incoming traffic over IPv4 and IPv6, such as `block in all` for pf, and let in only single services after it.",
	},
	service_state_unknown: {
		says: "the agent does not know whether the firewall's service runs",
		fix: "Ask an administrator to look at the service.\nAdministrators: `Get-Service mpssvc`",
	},

	// Clock.
	not_yet_synchronized: {
		says: "the clock is not synchronized yet",
		fix: "Connect the device to a network and wait for a few minutes.",
	},
	service_does_not_answer: {
		says: "the time service does not answer",
		fix: "Restart the time service.\nAdministrators: `service ntpd restart`",
	},
	service_not_running: {
		says: "the time service does not run now, and it set the clock long ago",
		fix: "Open Settings → Time & language → Date & time and select Sync now.\nAdministrators: `Start-Service w32time; w32tm /resync`",
	},
	synchronization_not_known: {
		says: "the time service runs, but nothing shows that it has set the clock in the last 14 days",
		fix: "Open Settings → Time & language → Date & time and select Sync now. If that fails, the network keeps out the time (UDP port 123), or the time server does not exist.\nAdministrators: `w32tm /resync`, and `w32tm /query /status /verbose`",
	},
	third_party_service: {
		says: "another product sets the clock, and the agent cannot ask it",
		fix: "Show an administrator that this product keeps the clock right.",
	},

	// Version of the system.
	development_version: {
		says: "this is a development version",
		fix: "Install a release that gets security updates.",
	},
	distribution_not_known: {
		says: "the agent does not know this distribution",
		fix: "Show an administrator until when the distribution gets security updates.",
	},
	extended_updates_unconfirmed: {
		says: "the agent cannot tell whether the paid extended updates still run",
		fix: "Upgrade to Windows 11, or show an administrator that Extended Security Updates are active.",
	},
	release_not_known: {
		says: "the agent does not know this release",
		fix: "Install the newest version of the agent. If the release is old, upgrade the system.",
	},
	support_not_known: {
		says: "the agent is too old to know whether this version is still supported",
		fix: "Install the newest version of the agent, and upgrade macOS if System Settings offers it.",
	},
	unknown_build: {
		says: "the agent does not know this build of Windows",
		fix: "Install the newest version of the agent. A preview build needs a release instead.",
	},
	version_not_known: {
		says: "the agent does not know this version",
		fix: "Install the newest version of the agent.",
	},

	// Updates.
	managed_elsewhere: {
		says: "another system manages the device, and the agent cannot see whether that system installs updates",
		fix: "Ask an administrator which system has to install the updates (for example Intune, WSUS, Landscape or Puppet), and whether it does so.",
	},
	updated_by_desktop: {
		says: "only a user's desktop installs updates, while that user is signed in",
		fix: "Ask an administrator to let the system itself install security updates.\nAdministrators: `apt install unattended-upgrades` (Debian, Ubuntu), `dnf install dnf-automatic && systemctl enable --now dnf-automatic-install.timer` (Fedora)",
	},
	patch_age_not_known: {
		says: "the device does not report when it last searched for updates",
		fix: "Let the device search for updates now, and show an administrator the result.",
	},
	update_origins_not_known: {
		says: "the agent cannot tell whether unattended-upgrades may install the security updates",
		fix: 'Show an administrator the archives from which the device installs updates, or name the security updates in the settings of unattended-upgrades.\nAdministrators: `apt-config dump Unattended-Upgrade`; for example `"origin=Debian,label=Debian-Security";` (Debian) or `"origin=Ubuntu,archive=*-security";` (Ubuntu) below `Unattended-Upgrade::Origins-Pattern`',
	},
	no_schedule_found: {
		says: "the agent found no schedule that installs updates",
		fix: "Let cron install updates every night.\nAdministrators: `echo '@daily root freebsd-update cron && freebsd-update install' >> /etc/crontab`",
	},
	no_setting: {
		says: "nobody has set how Windows installs updates",
		fix: "Ask an administrator to set it with sconfig or a group policy.",
	},
	no_standard_mechanism: {
		says: "the agent knows no mechanism that updates this distribution",
		fix: "Show an administrator how the device gets its updates.",
	},
	not_configured: {
		says: "nobody has chosen whether macOS installs updates automatically",
		fix: "Open System Settings → General → Software Update → Automatic Updates and turn on all switches.",
	},

	// Passwords.
	cloud_managed_accounts: {
		says: "the accounts are in the cloud, where their passwords have other rules",
		fix: "Show an administrator the rules in Microsoft Entra ID, or set a minimum length for local accounts too.",
	},
	included_rules_not_read: {
		says: "the rules for passwords include files that the agent does not read",
		fix: "Write the rule of pam_passwdqc into /etc/pam.d/passwd itself.",
	},
	local_policy_unread: {
		says: "the local rules for passwords could not be read",
		fix: "Ask an administrator to look at them.\nAdministrators: `net accounts`",
	},
	module_not_known: {
		says: "a module that the agent does not know checks new passwords",
		fix: "Use pam_passwdqc, or show an administrator the module's rules.",
	},
	no_pam: {
		says: "the system does not use PAM",
		fix: "Show an administrator how the system checks new passwords.",
	},
	pam_settings_not_readable: {
		says: "the rules for passwords could not be read",
		fix: "Check the rights of /etc/pam.d/passwd.",
	},
	rule_not_binding: {
		says: "the rule for passwords is not enforced",
		fix: "Write `requisite` in front of pam_passwdqc.so in /etc/pam.d/passwd.",
	},
	rule_not_understood: {
		says: "the agent does not understand the rules for passwords",
		fix: "Set a plain minimum length with a configuration profile for passcodes.",
	},
	settings_elsewhere: {
		says: "the rules for passwords are in another file",
		fix: "Write the options of pam_passwdqc into /etc/pam.d/passwd itself.",
	},

	// Remote login.
	conditional_settings: {
		says: "sshd has settings that hold for some clients only",
		fix: "Remove the `Match` blocks that change how people sign in, or write `PasswordAuthentication no` into each.",
	},
	inetd_settings_not_readable: {
		says: "the settings of inetd could not be read",
		fix: "Check the rights of /etc/inetd.conf.",
	},
	service_manager_not_recognized: {
		says: "the agent does not know this service manager",
		fix: "Show an administrator which services run. The agent knows systemd and OpenRC.",
	},
	service_state_not_known: {
		says: "the agent does not know whether a service for remote access is on",
		fix: "Open System Settings → General → Sharing and show an administrator what is on.",
	},
	ssh_behind_inetd: {
		says: "inetd starts sshd",
		fix: "Let sshd run as a service of its own.\nAdministrators: `service sshd enable && service sshd start`",
	},
	unreadable_settings: {
		says: "the settings of sshd could not be read",
		fix: "Check the rights of sshd_config and of the files that it includes.",
	},
	second_factor_possible: {
		says: "SSH asks for a password and perhaps for a second factor",
		fix: "Require a key as well: write `AuthenticationMethods publickey,keyboard-interactive` into sshd_config. Or show an administrator that everybody needs the second factor.",
	},

	// Malware protection.
	definitions_not_found: {
		says: "XProtect's definitions were not found",
		fix: "Install all updates of macOS, and restart the Mac.",
	},
	definitions_age_unknown: {
		says: "the agent does not know how old XProtect's definitions are",
		fix: "Install all updates of macOS, and restart the Mac.",
	},
	gatekeeper_not_known: {
		says: "the agent does not know whether Gatekeeper is on",
		fix: "Ask an administrator to check it.\nAdministrators: `spctl --status`",
	},
	integrity_protection_not_known: {
		says: "the agent does not know whether System Integrity Protection is on",
		fix: "Ask an administrator to check it.\nAdministrators: `csrutil status`",
	},
	no_known_engine: {
		says: "the agent found no protection that it knows",
		fix: "Turn on Microsoft Defender, or show an administrator the product that protects the device.",
	},
	scanner_state_not_known: {
		says: "the scanner does not say whether it works",
		fix: "Update the scanner's definitions, and restart its service.",
	},
	signature_age_unknown: {
		says: "Microsoft Defender does not say how old its definitions are",
		fix: "Open Windows Security → Virus & threat protection and select Check for updates.",
	},
	third_party_unverified: {
		says: "another product runs, and the agent cannot ask it",
		fix: "Show an administrator that this product is on and up to date.",
	},
} satisfies Record<string, ReasonText>;
