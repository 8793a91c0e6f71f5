import { CLOSE_SERVICES, commands, type Fixes, SSH_KEYS } from "./fix.ts";

const TIME_SERVICE = commands(
	"`timedatectl set-ntp true`; install systemd-timesyncd or chrony if it says that NTP is not supported",
);

/** What to do about a failing check on Linux. */
export const LINUX_FAILURES: Fixes = {
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
			fix: `Find out what is on each volume that is not encrypted. Save its data and put it on LUKS. If it only has a recovery system, leave it unmounted instead.${commands("`lsblk -f` shows where the volumes are mounted; `cryptsetup luksFormat DEVICE` erases DEVICE")}`,
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
			fix: `Open Settings → Power (KDE: Screen Locking) and let the screen turn off and lock sooner.${commands("`gsettings set org.gnome.desktop.session idle-delay {idle_seconds}`")}`,
		},
	],
	FIREWALL_ENABLED: [
		{
			when: { field: "open_zone" },
			fix: `Ask an administrator to move the interfaces and sources of the open zone to the zone “public” of firewalld.${commands("`firewall-cmd --get-active-zones`, then `firewall-cmd --permanent --zone=public --change-interface=NAME` and `firewall-cmd --reload`")}`,
		},
		{
			when: { field: "open_interfaces" },
			fix: `A rule lets in new connections through the interfaces that the evidence names under “open_interfaces”. Ask an administrator to remove it, or to let in only single services there.${commands("`nft list ruleset`, `iptables-save` and `ufw status verbose` show the rules; `ufw delete allow in on NAME` removes one of ufw, and `firewall-cmd --permanent --zone=public --change-interface=NAME` moves the interface to another zone")}`,
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
			when: { field: "overdue", is: "restart_pending_days" },
			fix: `Save your work and restart the device. Installed updates, such as a new kernel, take effect only then.${commands('`reboot`; unattended-upgrades restarts a server itself with `Unattended-Upgrade::Automatic-Reboot "true";`, and dnf-automatic with `reboot = when-needed`')}`,
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
			when: { field: "security_origins", is: false },
			fix: `Ask an administrator to allow unattended-upgrades the security updates of the distribution.${commands('`"origin=Debian,label=Debian-Security";` (Debian) or `"origin=Ubuntu,archive=*-security";` (Ubuntu) below `Unattended-Upgrade::Origins-Pattern` in /etc/apt/apt.conf.d/50unattended-upgrades')}`,
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
			fix: `Ask an administrator to require longer passwords.${commands("install libpam-pwquality (Debian, Ubuntu), and set `minlen = {password_length}` in /etc/security/pwquality.conf")}`,
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
			fix: `Ask an administrator to install the organization's product, or ClamAV. AppArmor and SELinux are not enough, nor is fapolicyd.${commands("`apt install clamav-daemon` or `dnf install clamd`, then `systemctl enable --now clamav-clamonacc clamav-freshclam`")}`,
		},
		{
			fix: `Ask an administrator to turn on AppArmor or SELinux, or to install a scanner.${commands("`systemctl enable --now apparmor`, or `SELINUX=enforcing` in /etc/selinux/config and a restart")}`,
		},
	],
};
