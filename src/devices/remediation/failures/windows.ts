import { commands, type Fixes, SSH_KEYS } from "./fix.ts";

/** What to do about a failing check on Windows. */
export const WINDOWS_FAILURES: Fixes = {
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
			when: { field: "manager" },
			fix: "Ask an administrator why the product that installs updates on this device has not done so for long. The evidence names it under “manager”. Install the updates there, and restart the device.",
		},
		{
			when: { field: "source", is: "configuration_manager" },
			fix: `Ask an administrator why Configuration Manager has installed no updates for long. Open Software Center → Updates, install what is offered and restart.${commands("look at WUAHandler.log and UpdatesDeployment.log in `C:\\Windows\\CCM\\Logs`")}`,
		},
		{
			when: { field: "patches_current", is: false },
			fix: `Open Settings → Windows Update, select Check for updates, install them and restart.${commands("`usoclient StartScan`; look for errors with `Get-WindowsUpdateLog`")}`,
		},
		{
			when: { field: "update_server", is: "none" },
			fix: `Ask an administrator to remove the policy that sends Windows to a server that does not exist.${commands('`Remove-ItemProperty HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows\\WindowsUpdate\\AU UseWUServer`, or correct the policy "Specify intranet Microsoft update service location"')}`,
		},
		{
			when: { field: "paused_by", is: "device_management" },
			fix: `Ask an administrator to resume the updates, which device management has paused for all devices of an update ring.${commands("in Intune, open Devices → Windows updates → Update rings, the ring, and select Resume for quality updates")}`,
		},
		{
			when: { field: "paused_by", is: "group_policy" },
			fix: `Ask an administrator to resume the updates, which a group policy has paused.${commands('in the policy "Select when Quality Updates are received", clear the day on which the pause begins')}`,
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
			fix: `Ask an administrator to set the minimum length of passwords in Local Security Policy → Account Policies → Password Policy.${commands("`net accounts /minpwlen:{password_length}`")}`,
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
};
