import type { CheckKey, Platform } from "../terms.ts";

/** Advice for a check that fails. */
export interface Fix {
	/**
	 * The cause that this advice is for: the evidence has this field, with this value if one is
	 * given (or with a list that contains it). Advice without a cause is for all other failures and
	 * stands last.
	 */
	when?: { field: string; is?: boolean | string | number };
	/** True: only for a device without a desktop. False: only for others. */
	onServer?: boolean;
	/** Steps for the user. Commands for administrators stand in a line of their own. */
	fix: string;
}

const commands = (text: string) => `\nAdministrators: ${text}`;

const SSH_KEYS =
	"Let people sign in over SSH with keys only. Write `PasswordAuthentication no`, `KbdInteractiveAuthentication no` and `PermitRootLogin prohibit-password` into sshd_config.";

const CLOSE_SERVICES =
	"Stop the open services that nobody needs: Telnet, rlogin, VNC, remote desktops and products for remote control. Reach those that you need through a VPN or SSH.";

const TIME_SERVICE = commands(
	"`timedatectl set-ntp true`; install systemd-timesyncd or chrony if it says that NTP is not supported",
);

/**
 * What to do about a failing check, by platform. `fixOf` returns the first advice whose cause the
 * evidence has. For a check that is missing here, it says what a pass means.
 */
export const FAILURES: Record<
	Platform,
	Partial<Record<CheckKey, readonly [...Fix[], Fix]>>
> = {
	DARWIN: {
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
	},
	WINDOWS: {
		DISK_ENCRYPTION: [
			{
				when: { field: "protection_suspended", is: true },
				fix: `Open Control Panel → BitLocker Drive Encryption and select Resume protection.${commands("`Resume-BitLocker -MountPoint $env:SystemDrive`")}`,
			},
			{
				when: { field: "conversion", is: "encrypted" },
				fix: `Encrypt the other internal drives too. Search for “Manage BitLocker” and turn it on for each drive.${commands("`manage-bde -on D: -RecoveryPassword`, then `manage-bde -autounlock -enable D:`")}`,
			},
			{
				when: { field: "conversion", is: "encrypting" },
				fix: "Leave the device on and connected to power until Windows has encrypted the drive.",
			},
			{
				fix: `Open Settings → Privacy & security → Device encryption and turn it on. On Windows Pro, search for “Manage BitLocker”. Save the recovery key.${commands("`manage-bde -on $env:SystemDrive -RecoveryPassword`")}`,
			},
		],
		SCREEN_LOCK: [
			{
				fix: `Open Settings → Personalization → Lock screen → Screen saver. Choose a screen saver, a shorter time, and select "On resume, display logon screen".${commands("set the policy Interactive logon: Machine inactivity limit")}`,
			},
		],
		FIREWALL_ENABLED: [
			{
				when: { field: "inbound_allowed_by_default", is: true },
				fix: `Block incoming connections that no rule allows. Open Windows Defender Firewall with Advanced Security → Properties.${commands("`Set-NetFirewallProfile -All -DefaultInboundAction Block`")}`,
			},
			{
				when: { field: "service_running", is: false },
				fix: `The firewall's service does not run. Restart the device.${commands("`Set-Service mpssvc -StartupType Automatic; Start-Service mpssvc`")}`,
			},
			{
				fix: `Open Windows Security → Firewall & network protection and turn the firewall on for all three networks.${commands("`Set-NetFirewallProfile -All -Enabled True`")}`,
			},
		],
		TIME_SYNC: [
			{
				fix: `Open Settings → Time & language → Date & time, turn on “Set time automatically” and select Sync now.${commands("`Set-Service w32time -StartupType Automatic; Start-Service w32time; w32tm /resync`")}`,
			},
		],
		OS_VERSION: [
			{
				when: { field: "extended_updates", is: false },
				fix: "Upgrade from Windows 10 to Windows 11, enroll in Extended Security Updates, or replace the device.",
			},
			{
				fix: "Open Settings → Windows Update and install the newest version of Windows. If the device cannot run it, replace the device.",
			},
		],
		AUTO_UPDATE: [
			{
				when: { field: "patches_current", is: false },
				fix: `Open Settings → Windows Update, select Check for updates, install them and restart.${commands("`usoclient StartScan`; look for errors with `Get-WindowsUpdateLog`")}`,
			},
			{
				when: { field: "update_server", is: "none" },
				fix: `Ask an administrator to remove the policy that sends Windows to a server that does not exist.${commands('`Remove-ItemProperty HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows\\WindowsUpdate\\AU UseWUServer`, or correct the policy "Specify intranet Microsoft update service location"')}`,
			},
			{
				when: { field: "paused_until" },
				fix: "Open Settings → Windows Update and select Resume updates.",
			},
			{
				when: { field: "service_disabled", is: true },
				fix: `The service that installs updates is disabled.${commands("`Set-Service wuauserv -StartupType Manual; Set-Service UsoSvc -StartupType Automatic`")}`,
			},
			{
				fix: `Open Settings → Windows Update and install what is offered. Ask an administrator to let Windows install updates automatically.${commands('set the policy "Configure Automatic Updates" to 4')}`,
			},
		],
		PASSWORD_POLICY: [
			{
				fix: `Ask an administrator to set the minimum length of passwords in Local Security Policy → Account Policies → Password Policy.${commands("`net accounts /minpwlen:12`")}`,
			},
		],
		REMOTE_LOGIN: [
			{
				when: { field: "open_services" },
				fix: `A product for remote control runs on the device. Remove it, or let it run only while somebody needs help.${commands("`Stop-Service NAME; Set-Service NAME -StartupType Disabled`")}`,
			},
			{
				when: { field: "network_level_authentication", is: false },
				fix: `Open Settings → System → Remote Desktop and require devices to use network-level authentication. On a device that nobody manages, turn Remote Desktop off.${commands("`Set-ItemProperty 'HKLM:\\System\\CurrentControlSet\\Control\\Terminal Server\\WinStations\\RDP-Tcp' UserAuthentication 1`")}`,
			},
			{
				when: { field: "unencrypted_allowed", is: true },
				fix: `Do not let PowerShell remoting accept unencrypted passwords.${commands("`Set-Item WSMan:\\localhost\\Service\\AllowUnencrypted $false; Set-Item WSMan:\\localhost\\Service\\Auth\\Basic $false`")}`,
			},
			{
				when: { field: "remote_desktop", is: true },
				fix: `Open Settings → System → Remote Desktop and turn it off. If it is needed, reach it only through a VPN or gateway.${commands("`Set-ItemProperty 'HKLM:\\System\\CurrentControlSet\\Control\\Terminal Server' fDenyTSConnections 1`")}`,
			},
			{
				when: { field: "powershell_remoting", is: true },
				fix: `Turn off PowerShell remoting. On a device of a domain, it may stay on over HTTPS only.${commands("`Disable-PSRemoting -Force; Set-Service WinRM -StartupType Disabled; Stop-Service WinRM`")}`,
			},
			{
				fix: `${SSH_KEYS}${commands("`Stop-Service sshd; Set-Service sshd -StartupType Disabled` if nobody needs it")}`,
			},
		],
		MALWARE_PROTECTION: [
			{
				when: { field: "signatures_current", is: false },
				fix: `Open Windows Security → Virus & threat protection and select Check for updates. Another product is updated in its own window.${commands("`Update-MpSignature`")}`,
			},
			{
				fix: `Open Windows Security → Virus & threat protection → Manage settings and turn on Real-time protection.${commands("`Set-MpPreference -DisableRealtimeMonitoring $false`")}`,
			},
		],
	},
	LINUX: {
		DISK_ENCRYPTION: [
			{
				when: { field: "root_encrypted", is: false },
				fix: "Save your data, install the system again and choose disk encryption (LUKS) in the installer.",
			},
			{
				when: { field: "swap_encrypted", is: false },
				fix: `Ask an administrator to encrypt the swap space, or to turn it off.${commands("`swapoff -a`, then put it on an encrypted volume, use a random key in /etc/crypttab, or use zram")}`,
			},
			{
				fix: `Save the data of the volume that the evidence names under “unencrypted”, and put it on LUKS.${commands("`cryptsetup luksFormat DEVICE`, which erases it")}`,
			},
		],
		SCREEN_LOCK: [
			{
				when: { field: "gdm_running", is: false },
				fix: `GNOME can lock the screen only if GDM started it. Use GDM as the login screen.${commands("`apt install gdm3` and `dpkg-reconfigure gdm3` (Debian, Ubuntu), `systemctl enable --force gdm` (others), and a restart")}`,
			},
			{
				when: { field: "lock_enabled", is: false },
				fix: `Open Settings → Privacy → Screen (KDE: Screen Locking) and turn on the automatic screen lock. A desktop without a lock of its own needs a locker such as swayidle with swaylock.${commands("`gsettings set org.gnome.desktop.screensaver lock-enabled true`")}`,
			},
			{
				fix: `Open Settings → Power (KDE: Screen Locking) and let the screen turn off and lock sooner.${commands("`gsettings set org.gnome.desktop.session idle-delay 300`")}`,
			},
		],
		FIREWALL_ENABLED: [
			{
				when: { field: "open_zone" },
				fix: `Ask an administrator to move the interfaces and sources of the open zone to the zone “public” of firewalld.${commands("`firewall-cmd --get-active-zones`, then `firewall-cmd --permanent --zone=public --change-interface=NAME` and `firewall-cmd --reload`")}`,
			},
			{
				when: { field: "open_packets" },
				fix: `A rule lets in new connections through an interface, to a range of ports or from everywhere. Ask an administrator to remove it, or to block by default.${commands("`nft list ruleset`, `iptables-save`, `ufw status verbose` and `firewall-cmd --list-all-zones` show the rules; `ufw default deny incoming` or `firewall-cmd --set-default-zone=public` block by default")}`,
			},
			{
				fix: `Ask an administrator to turn on a firewall that blocks incoming connections that no rule allows, for IPv4 and IPv6.${commands("`ufw allow OpenSSH; ufw enable` (Debian, Ubuntu), `systemctl enable --now firewalld` (Fedora, SUSE)")}`,
			},
		],
		TIME_SYNC: [
			{
				when: { field: "service", is: "none" },
				onServer: false,
				fix: `Turn on “Automatic Date & Time” in Settings.${TIME_SERVICE}`,
			},
			{
				when: { field: "service", is: "none" },
				onServer: true,
				fix: `No service sets the clock of this server. Ask an administrator to turn one on.${TIME_SERVICE}`,
			},
			{
				fix: `Let the device reach a time server over NTP (UDP port 123).${commands("`timedatectl timesync-status` or `chronyc sources`")}`,
			},
		],
		OS_VERSION: [
			{
				fix: `Save your data and upgrade the distribution.${commands("`do-release-upgrade` (Ubuntu), `dnf system-upgrade` (Fedora); Ubuntu Pro extends the support")}`,
			},
		],
		AUTO_UPDATE: [
			{
				when: { field: "overdue", is: "pending_update_days" },
				fix: `Ask an administrator to install the update, and to find in the errors why it was not installed automatically.${commands("`unattended-upgrade --debug` and `apt-mark showhold` (Debian, Ubuntu), `dnf upgrade --security` (Fedora, RHEL)")}`,
			},
			{
				when: { field: "patches_current", is: false },
				fix: `Ask an administrator to search for updates and to read the errors.${commands("`apt update`, `dnf check-update` or `rpm-ostree upgrade`; `journalctl -u apt-daily -u dnf-automatic-install`")}`,
			},
			{
				when: { field: "mechanism", is: "none" },
				fix: `Ask an administrator to install a service that installs security updates.${commands("`apt install unattended-upgrades` (Debian, Ubuntu), `dnf install dnf-automatic && systemctl enable --now dnf-automatic-install.timer` (Fedora, RHEL)")}`,
			},
			{
				fix: `Ask an administrator to turn on automatic updates.${commands("`dpkg-reconfigure -plow unattended-upgrades` (Debian, Ubuntu), `apply_updates = yes` in /etc/dnf/automatic.conf (Fedora, RHEL)")}`,
			},
		],
		PASSWORD_POLICY: [
			{
				when: { field: "empty_passwords" },
				fix: `Ask an administrator to give the account a password, or to lock it.${commands("`awk -F: '$2 == \"\" { print $1 }' /etc/shadow` lists them; `passwd NAME` or `passwd -l NAME`")}`,
			},
			{
				fix: `Ask an administrator to require longer passwords.${commands("install libpam-pwquality (Debian, Ubuntu), and set `minlen = 12` in /etc/security/pwquality.conf")}`,
			},
		],
		REMOTE_LOGIN: [
			{
				when: { field: "open_services" },
				fix: `${CLOSE_SERVICES}${commands("`ss -tlnp` lists the ports, `systemctl disable --now SERVICE` stops a service")}`,
			},
			{
				fix: `${SSH_KEYS}${commands("`sshd -t && systemctl reload ssh`, or `systemctl disable --now ssh` if nobody needs it")}`,
			},
		],
		MALWARE_PROTECTION: [
			{
				when: { field: "scanner_unused", is: true },
				fix: `Ask an administrator to let ClamAV scan files when they are opened.${commands("`systemctl enable --now clamav-clamonacc`")}`,
			},
			{
				when: { field: "signatures_outdated", is: true },
				fix: `Let ClamAV update its definitions.${commands("`systemctl enable --now clamav-freshclam`")}`,
			},
			{
				when: { field: "scanner_unhealthy", is: true },
				fix: `Ask an administrator what Microsoft Defender reports.${commands("`mdatp health`")}`,
			},
			{
				when: { field: "scanner_required", is: true },
				fix: `Ask an administrator to install the organization's product, or ClamAV. AppArmor and SELinux are not enough.${commands("`apt install clamav-daemon` or `dnf install clamd`, then `systemctl enable --now clamav-clamonacc clamav-freshclam`")}`,
			},
			{
				fix: `Ask an administrator to turn on AppArmor or SELinux, or to install a scanner.${commands("`systemctl enable --now apparmor`, or `SELINUX=enforcing` in /etc/selinux/config and a restart")}`,
			},
		],
	},
	FREEBSD: {
		DISK_ENCRYPTION: [
			{
				when: { field: "root_encrypted", is: false },
				fix: "Save your data, install the system again and choose encryption (GELI) in the installer.",
			},
			{
				when: { field: "unencrypted", is: "swap" },
				fix: `Ask an administrator to encrypt the swap space.${commands("add `.eli` to the name of the swap device in /etc/fstab, and restart")}`,
			},
			{
				fix: `Save the data of the file system that the evidence names under “unencrypted”, and put it on GELI.${commands("`geli init DEVICE`, which erases it, then `geli attach DEVICE` and `newfs /dev/DEVICE.eli`")}`,
			},
		],
		SCREEN_LOCK: [
			{
				when: { field: "lock_enabled", is: false },
				fix: `Nothing locks the screen. Start a locker with the desktop.${commands("`pkg install xautolock i3lock`, then `xautolock -time 10 -locker i3lock &` in ~/.xinitrc")}`,
			},
			{
				fix: "Let the locker start sooner, for example with `xautolock -time 10`.",
			},
		],
		FIREWALL_ENABLED: [
			{
				when: { field: "default_block", is: false },
				fix: `Begin the rules with one that blocks everything, and let in only single services after it.${commands("`block in all` in /etc/pf.conf, then `service pf reload`")}`,
			},
			{
				fix: `Ask an administrator to turn on pf with rules that block incoming connections.${commands("`sysrc pf_enable=YES && service pf start`")}`,
			},
		],
		TIME_SYNC: [
			{
				fix: `Turn on a time service such as ntpd.${commands("`sysrc ntpd_enable=YES ntpd_sync_on_start=YES && service ntpd restart`")}`,
			},
		],
		OS_VERSION: [
			{
				fix: `Save your data and upgrade.${commands("`freebsd-update -r RELEASE upgrade`")}`,
			},
		],
		AUTO_UPDATE: [
			{
				fix: `Ask an administrator to let cron install the updates that it downloads.${commands("let cron run `freebsd-update install` after `freebsd-update cron`")}`,
			},
		],
		PASSWORD_POLICY: [
			{
				fix: `Ask an administrator to require longer passwords.${commands("write `password requisite pam_passwdqc.so min=disabled,24,12,12,12 enforce=users` into /etc/pam.d/passwd")}`,
			},
		],
		REMOTE_LOGIN: [
			{
				when: { field: "open_services" },
				fix: `${CLOSE_SERVICES}${commands("`sockstat -4 -6 -l` lists the ports")}`,
			},
			{
				fix: `${SSH_KEYS}${commands("`service sshd reload`")}`,
			},
		],
		MALWARE_PROTECTION: [
			{
				when: { field: "running", is: false },
				fix: `ClamAV is installed but does not run.${commands("`sysrc clamav_clamd_enable=YES clamav_freshclam_enable=YES && service clamav-clamd start`")}`,
			},
			{
				fix: `Let ClamAV update its definitions.${commands("`sysrc clamav_freshclam_enable=YES && service clamav-freshclam start`")}`,
			},
		],
	},
};
