import { CLOSE_SERVICES, commands, type Fixes, SSH_KEYS } from "./fix.ts";

/** What to do about a failing check on FreeBSD. */
export const FREEBSD_FAILURES: Fixes = {
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
			fix: `Save the data of each file system that is not encrypted, and put it on GELI.${commands("`geli init DEVICE`, which erases it, then `geli attach DEVICE` and `newfs /dev/DEVICE.eli`")}`,
		},
	],
	SCREEN_LOCK: [
		{
			when: { field: "lock_enabled", is: false },
			fix: `Nothing locks the screen. Start a locker with the desktop.${commands("`pkg install xautolock i3lock`, then `xautolock -time {idle_minutes} -locker i3lock &` in ~/.xinitrc")}`,
		},
		{
			fix: "Let the locker start sooner, for example with `xautolock -time {idle_minutes}`.",
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
			fix: `Ask an administrator to require longer passwords.${commands("write `password requisite pam_passwdqc.so min=disabled,{simple_password_length},{password_length},{password_length},{password_length} enforce=users` into /etc/pam.d/passwd")}`,
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
};
