import { describe, expect, test } from "vitest";
import type { Check } from "../../agent/checks/check.ts";
import {
	AUTO_UPDATE_SCRIPT,
	autoUpdate,
} from "../../agent/checks/windows/auto-update.ts";
import {
	DISK_ENCRYPTION_SCRIPT,
	diskEncryption,
} from "../../agent/checks/windows/disk-encryption.ts";
import {
	FIREWALL_SCRIPT,
	firewall,
} from "../../agent/checks/windows/firewall.ts";
import {
	MALWARE_PROTECTION_SCRIPT,
	malwareProtection,
} from "../../agent/checks/windows/malware-protection.ts";
import {
	OS_VERSION_SCRIPT,
	osVersion,
} from "../../agent/checks/windows/os-version.ts";
import {
	PASSWORD_POLICY_SCRIPT,
	passwordPolicy,
} from "../../agent/checks/windows/password-policy.ts";
import {
	REMOTE_LOGIN_SCRIPT,
	remoteLogin,
} from "../../agent/checks/windows/remote-login.ts";
import {
	SCREEN_LOCK_SCRIPT,
	screenLock,
} from "../../agent/checks/windows/screen-lock.ts";
import {
	TIME_SYNC_SCRIPT,
	timeSync,
} from "../../agent/checks/windows/time-sync.ts";
import { WINDOWS_SSHD_CONFIG } from "./recordings/sshd.ts";
import {
	CIM_DENIED,
	NO_EVENT,
	NO_NAMESPACE,
	NO_SERVICE,
	values,
	windowsHost,
} from "./windows-recording.ts";

type Case = [
	title: string,
	printed: object,
	status: string,
	evidence: object,
	options?: { isPrivileged?: boolean; now?: string },
];

const cases = (check: Check, script: string, list: Case[]) =>
	test.each(list)("%s", async (_, printed, status, evidence, options) => {
		const outcome = await check(windowsHost(script, printed, options));
		expect(outcome).toMatchObject({ status, evidence });
	});

const volume = (
	letter: string,
	type: number,
	protection: number,
	conversion: number,
	method = 6,
) => ({
	DriveLetter: letter,
	VolumeType: type,
	ProtectionStatus: protection,
	ConversionStatus: conversion,
	EncryptionMethod: method,
});
const disk = (volumes: object, drivers: object = values()) => ({
	systemDrive: "C:",
	volumes,
	drivers,
});

describe("DISK_ENCRYPTION on Windows", () => {
	cases(diskEncryption, DISK_ENCRYPTION_SCRIPT, [
		[
			"BitLocker on the system drive passes",
			disk(values(volume("C:", 0, 1, 1))),
			"PASS",
			{
				engine: "bitlocker",
				encryption_method: "xts_aes_128",
				conversion: "encrypted",
				data_volumes: 0,
			},
		],
		[
			"a data drive without protection is told, and does not decide",
			disk(
				values(volume("D:", 1, 0, 0, 0), volume("C:", 0, 1, 1), {
					...volume("E:", 2, 0, 0, 0),
				}),
			),
			"PASS",
			{ data_volumes: 1, unprotected_data_volumes: 1 },
		],
		[
			"a drive without BitLocker fails",
			disk(values(volume("C:", 0, 0, 0, 0))),
			"FAIL",
			{ conversion: "decrypted", encryption_method: "none" },
		],
		[
			"suspended protection, or device encryption that waits for an account, fails",
			disk(values(volume("C:", 0, 0, 1))),
			"FAIL",
			{ protection_suspended: true },
		],
		[
			"a drive that is still being encrypted fails",
			disk(values(volume("C:", 0, 1, 2))),
			"FAIL",
			{ conversion: "encrypting" },
		],
		[
			"a locked drive is not known",
			disk(values(volume("C:", 0, 2, 1))),
			"UNKNOWN",
			{ reason: "protection_unknown" },
		],
		[
			"a running VeraCrypt makes it unknown",
			disk(values(volume("C:", 0, 0, 0, 0)), values({ Name: "veracrypt" })),
			"UNKNOWN",
			{ reason: "third_party_encryption", engine: "veracrypt" },
		],
		[
			"a server without the BitLocker feature is not known",
			disk(NO_NAMESPACE),
			"UNKNOWN",
			{ reason: "bitlocker_not_installed" },
		],
		[
			"a plain user is told to be an administrator",
			disk(CIM_DENIED),
			"UNKNOWN",
			{ reason: "needs_administrator" },
			{ isPrivileged: false },
		],
		[
			"a system drive that is not listed is not known",
			disk(values(volume("D:", 1, 1, 1))),
			"UNKNOWN",
			{ reason: "system_drive_not_listed" },
		],
	]);
});

const saver = (active: unknown, secure: unknown, timeout: unknown) => ({
	active,
	secure,
	timeout,
	policyActive: null,
	policySecure: null,
	policyTimeout: null,
	dynamic: null,
});
const power = (signIn: number, mains: number, battery: number) =>
	values(
		{ setting: "sign_in", mains: true, number: signIn },
		{ setting: "sign_in", mains: false, number: signIn },
		{ setting: "sleep", mains: true, number: mains },
		{ setting: "sleep", mains: false, number: battery },
	);
const screen = (fields: object) => ({
	inactivitySeconds: null,
	managedMinutes: null,
	users: values(saver("1", "0", "900")),
	power: power(1, 0, 600),
	...fields,
});

describe("SCREEN_LOCK on Windows", () => {
	cases(screenLock, SCREEN_LOCK_SCRIPT, [
		[
			"the machine's inactivity limit passes",
			screen({ inactivitySeconds: 900 }),
			"PASS",
			{ source: "machine_inactivity_limit", idle_seconds: 900 },
		],
		[
			"a limit set by device management passes",
			screen({ managedMinutes: 10 }),
			"PASS",
			{ source: "device_management", idle_seconds: 600 },
		],
		[
			"a secure screen saver of every session passes",
			screen({ users: values(saver("1", "1", "600"), saver("1", "1", "300")) }),
			"PASS",
			{ source: "screen_saver", idle_seconds: 600, user_sessions: 2 },
		],
		[
			"policy stands before the user's own setting",
			screen({
				users: values({
					...saver("1", "0", "0"),
					policyActive: "1",
					policySecure: "1",
					policyTimeout: "900",
				}),
			}),
			"PASS",
			{ source: "screen_saver", idle_seconds: 900 },
		],
		[
			"sleep within 15 minutes with a sign-in on wake passes",
			screen({ power: power(1, 900, 300) }),
			"PASS",
			{ source: "sleep", idle_seconds: 900 },
		],
		[
			"one session without a lock fails",
			screen({ users: values(saver("1", "1", "600"), saver("1", "0", "600")) }),
			"FAIL",
			{ lock_enabled: false, sessions_with_lock: 1 },
		],
		[
			"a lock after an hour fails",
			screen({ users: values(saver("1", "1", "3600")) }),
			"FAIL",
			{ lock_enabled: true, idle_seconds: 3600 },
		],
		[
			"no sign-in on wake fails",
			screen({ power: power(0, 300, 300) }),
			"FAIL",
			{ lock_enabled: false, dynamic_lock: false },
		],
		[
			"with nobody signed in and no limit it is not known",
			screen({ users: values() }),
			"UNKNOWN",
			{ reason: "no_user_session" },
		],
		[
			"without the power settings a missing lock is not proven",
			screen({ power: CIM_DENIED }),
			"UNKNOWN",
			{ reason: "needs_administrator" },
			{ isPrivileged: false },
		],
	]);
});

const profile = (name: string, enabled: number, inbound = 4) => ({
	name,
	enabled,
	inbound,
});
const wall = (fields: object) => ({
	profiles: values(
		profile("Domain", 1),
		profile("Private", 1),
		profile("Public", 1),
	),
	service: values({ running: true }),
	products: NO_NAMESPACE,
	...fields,
});

describe("FIREWALL_ENABLED on Windows", () => {
	cases(firewall, FIREWALL_SCRIPT, [
		[
			"all three profiles on passes",
			wall({}),
			"PASS",
			{ engine: "windows_firewall", public_profile_enabled: true },
		],
		[
			"one profile off fails",
			wall({
				profiles: values(
					profile("Domain", 1),
					profile("Private", 0),
					profile("Public", 1),
				),
			}),
			"FAIL",
			{ private_profile_enabled: false, domain_profile_enabled: true },
		],
		[
			"letting everything in fails",
			wall({
				profiles: values(
					profile("Domain", 1, 2),
					profile("Private", 1),
					profile("Public", 1),
				),
			}),
			"FAIL",
			{ inbound_allowed_by_default: true },
		],
		[
			"a stopped firewall service fails",
			wall({ service: values({ running: false }) }),
			"FAIL",
			{ service_running: false },
		],
		[
			"another firewall that is on passes",
			wall({
				profiles: values(profile("Domain", 0)),
				products: values({ productState: 266256 }),
			}),
			"PASS",
			{ engine: "third_party" },
		],
		[
			"another firewall that is off does not help",
			wall({
				profiles: values(
					profile("Domain", 0),
					profile("Private", 0),
					profile("Public", 0),
				),
				products: values({ productState: 262160 }),
			}),
			"FAIL",
			{ public_profile_enabled: false },
		],
		[
			"a profile missing is not understood",
			wall({ profiles: values(profile("Domain", 1)) }),
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"a plain user who may not ask is told so",
			wall({
				profiles: { error: "Windows System Error 5,Get-NetFirewallProfile" },
			}),
			"UNKNOWN",
			{ reason: "needs_administrator" },
			{ isPrivileged: false },
		],
	]);
});

const clock = (fields: object) => ({
	type: "NTP",
	policyType: null,
	client: 1,
	policyClient: null,
	start: 3,
	service: values({ running: true }),
	event: values({ id: 35, at: "2026-11-20T07:12:41" }),
	others: values(),
	...fields,
});

describe("TIME_SYNC on Windows", () => {
	cases(timeSync, TIME_SYNC_SCRIPT, [
		[
			"a running service that follows a source passes",
			clock({}),
			"PASS",
			{ source: "ntp", synchronized: true, last_event_days: 1 },
		],
		[
			"a domain member whose log was cleared passes on its running service",
			clock({ type: "NT5DS", start: 2, event: NO_EVENT }),
			"PASS",
			{ source: "domain", service_running: true },
		],
		[
			"a stopped service that synchronized this week passes",
			clock({ service: values({ running: false }) }),
			"PASS",
			{ service_running: false, synchronized: true },
		],
		[
			"a service that lost its source fails",
			clock({ event: values({ id: 36, at: "2026-11-21T03:00:00" }) }),
			"FAIL",
			{ synchronized: false },
		],
		[
			"a source switched off fails",
			clock({ type: "NoSync" }),
			"FAIL",
			{ source: "none" },
		],
		[
			"a disabled service fails",
			clock({ start: 4, service: values({ running: false }) }),
			"FAIL",
			{ service_disabled: true },
		],
		[
			"another program that keeps the clock is not known",
			clock({ type: "NoSync", others: values({ name: "NTP" }) }),
			"UNKNOWN",
			{ reason: "third_party_service", engine: "ntpd" },
		],
		[
			"policy stands before the setting",
			clock({ policyType: "NoSync" }),
			"FAIL",
			{ source: "none" },
		],
		[
			"a stopped service with no event is not known",
			clock({ service: values({ running: false }), event: NO_EVENT }),
			"UNKNOWN",
			{ reason: "service_not_running" },
		],
		[
			"a device without the service is not known",
			clock({ service: NO_SERVICE }),
			"UNKNOWN",
			{ reason: "not_available" },
		],
	]);
});

const system = (build: string, edition: string, fields: object = {}) => ({
	build,
	revision: 2605,
	edition,
	installation: "Client",
	licenses: values(),
	...fields,
});

describe("OS_VERSION on Windows", () => {
	cases(osVersion, OS_VERSION_SCRIPT, [
		[
			"a release in service passes",
			system("26200", "Professional"),
			"PASS",
			{ build: 26200, release: "25H2", supported_until: "2027-10-12" },
		],
		[
			"a release past its end fails",
			system("22631", "Core"),
			"FAIL",
			{ release: "23H2", supported_until: "2025-11-11" },
		],
		[
			"a business edition is serviced longer",
			system("26100", "Enterprise"),
			"PASS",
			{ supported_until: "2027-10-12" },
		],
		[
			"the same build of the Pro edition is not",
			system("26100", "Professional"),
			"FAIL",
			{ supported_until: "2026-10-13" },
		],
		[
			"the long-term channel has dates of its own",
			system("19044", "IoTEnterpriseS"),
			"PASS",
			{ supported_until: "2032-01-13" },
		],
		[
			"the last day is still in service",
			system("26100", "Core"),
			"PASS",
			{},
			{ now: "2026-10-13T23:00:00Z" },
		],
		[
			"a server is judged as a server",
			system("17763", "ServerStandard", { installation: "Server Core" }),
			"PASS",
			{ release: "2019", supported_until: "2029-01-09" },
		],
		[
			"a server of the semi-annual channel fails",
			system("19042", "ServerStandardACor", { installation: "Server Core" }),
			"FAIL",
			{ supported_until: "2022-08-09" },
		],
		[
			"Windows 10 fails without extended updates",
			system("19045", "Professional", { revision: 6456 }),
			"FAIL",
			{ extended_updates: false },
		],
		[
			"Windows 10 passes in its second year of extended updates",
			system("19045", "Enterprise", {
				revision: 7184,
				licenses: values(
					{ id: "f520e45e-7413-4a34-a497-d2765967d094", status: 1 },
					{ id: "1043add5-23b1-4afb-9a0f-64343c8f3f8d", status: 1 },
				),
			}),
			"PASS",
			{ extended_updates: true, supported_until: "2027-10-12" },
		],
		[
			"Windows 10 that got extended updates without a license we can see is not known",
			system("19045", "Core", { revision: 7184 }),
			"UNKNOWN",
			{ reason: "extended_updates_unconfirmed" },
		],
		[
			"a build newer than the agent is not known",
			system("29500", "Professional"),
			"UNKNOWN",
			{ reason: "unknown_build", build: 29500 },
		],
	]);
});

const update = (fields: object) => ({
	installation: "Client",
	noAutoUpdate: null,
	policyOption: null,
	useServer: null,
	accessDisabled: null,
	ownOption: null,
	managed: null,
	start: 3,
	orchestratorStart: 2,
	pausedUntil: null,
	manager: values(),
	installed: values({ on: "10/14/2026" }, { on: "11/11/2026" }, { on: "" }),
	...fields,
});

describe("AUTO_UPDATE on Windows", () => {
	cases(autoUpdate, AUTO_UPDATE_SCRIPT, [
		[
			"Windows as it comes passes",
			update({}),
			"PASS",
			{ mode: "automatic", source: "windows_default", last_update_days: 10 },
		],
		[
			"a policy to install from an update server passes",
			update({ policyOption: 4, useServer: 1 }),
			"PASS",
			{ source: "group_policy", update_server: "wsus" },
		],
		[
			"management that installs passes",
			update({ managed: 2 }),
			"PASS",
			{ source: "device_management" },
		],
		[
			"a policy against updates fails",
			update({ noAutoUpdate: 1 }),
			"FAIL",
			{ mode: "off" },
		],
		[
			"a policy that only notifies fails",
			update({ policyOption: 2 }),
			"FAIL",
			{ mode: "notify" },
		],
		[
			"a disabled update service fails",
			update({ start: 4 }),
			"FAIL",
			{ service_disabled: true },
		],
		[
			"paused updates fail",
			update({ pausedUntil: "2026-12-05T09:00:00Z" }),
			"FAIL",
			{ paused_until: "2026-12-05" },
		],
		[
			"a pause that is over passes",
			update({ pausedUntil: "2026-11-05T09:00:00Z" }),
			"PASS",
			{ mode: "automatic" },
		],
		[
			"a server that only downloads fails",
			update({ installation: "Server", ownOption: 3 }),
			"FAIL",
			{ mode: "download_only", source: "server_setting" },
		],
		[
			"a server with nothing set is not known",
			update({ installation: "Server Core" }),
			"UNKNOWN",
			{ reason: "no_setting" },
		],
		[
			"Configuration Manager that installed this month passes",
			update({ noAutoUpdate: 1, manager: values({ running: true }) }),
			"PASS",
			{ source: "configuration_manager" },
		],
		[
			"Configuration Manager that installed nothing for long is not known",
			update({
				noAutoUpdate: 1,
				manager: values({ running: true }),
				installed: values({ on: "3/11/2026" }),
			}),
			"UNKNOWN",
			{ reason: "managed_elsewhere", last_update_days: 255 },
		],
	]);
});

const passwords = (minimumLength: number | null, fields: object = {}) => ({
	policy: values({
		minimumLength,
		maximumAgeSeconds: 3628800,
		history: 24,
		lockout: 10,
	}),
	managedLength: null,
	managedOff: null,
	cloudJoined: false,
	...fields,
});

describe("PASSWORD_POLICY on Windows", () => {
	cases(passwordPolicy, PASSWORD_POLICY_SCRIPT, [
		[
			"a minimum of 14 passes",
			passwords(14),
			"PASS",
			{ minimum_length: 14, lockout_threshold: 10, maximum_age_days: 42 },
		],
		[
			"a minimum set by management passes",
			passwords(0, { managedLength: 12, managedOff: 0 }),
			"PASS",
			{ minimum_length: 12 },
		],
		[
			"Windows as it comes fails",
			passwords(0),
			"FAIL",
			{ minimum_length: 0, cloud_joined: false },
		],
		[
			"a minimum that management does not ask for does not count",
			passwords(0, { managedLength: 12, managedOff: 1 }),
			"FAIL",
			{ minimum_length: 0 },
		],
		[
			"a device joined to Entra ID is not known",
			passwords(0, { cloudJoined: true }),
			"UNKNOWN",
			{ reason: "cloud_managed_accounts" },
		],
		[
			"a policy that cannot be read is not known",
			{
				...passwords(0),
				policy: { error: "RuntimeException" },
			},
			"UNKNOWN",
			{ reason: "query_failed" },
		],
		[
			"a policy without a number is not understood",
			passwords(null),
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
	]);
});

const running = (...names: string[]) =>
	values(
		...["TermService", "WinRM", "sshd"].map((name) => ({
			name,
			running: names.includes(name),
		})),
	);
const remote = (fields: object) => ({
	installation: "Client",
	deny: 1,
	policyDeny: null,
	nla: 1,
	policyNla: null,
	port: 3389,
	smartCard: null,
	basic: null,
	policyBasic: null,
	plain: null,
	policyPlain: null,
	services: running("TermService"),
	listeners: values(),
	...fields,
});

describe("REMOTE_LOGIN on Windows", () => {
	cases(remoteLogin, REMOTE_LOGIN_SCRIPT, [
		[
			"nothing that lets anyone in passes",
			remote({}),
			"PASS",
			{ remote_desktop: false, powershell_remoting: false, ssh_server: false },
		],
		[
			"Remote Desktop on a device that people sit at fails",
			remote({ deny: 0 }),
			"FAIL",
			{
				remote_desktop: true,
				network_level_authentication: true,
				remote_desktop_port: 3389,
			},
		],
		[
			"Remote Desktop that asks for a smart card passes",
			remote({ deny: 0, smartCard: 1 }),
			"PASS",
			{ smart_card_required: true },
		],
		[
			"a server with network-level authentication passes",
			remote({
				installation: "Server",
				deny: 0,
				services: running("TermService", "WinRM"),
				listeners: values({ listener: true }),
			}),
			"PASS",
			{ remote_desktop: true, powershell_remoting: true },
		],
		[
			"a server without it fails",
			remote({ installation: "Server", deny: 0, nla: 0 }),
			"FAIL",
			{ network_level_authentication: false },
		],
		[
			"a policy that allows Remote Desktop stands before the setting",
			remote({ policyDeny: 0 }),
			"FAIL",
			{ remote_desktop: true },
		],
		[
			"PowerShell remoting on a device that people sit at fails",
			remote({
				services: running("WinRM"),
				listeners: values({ listener: true }),
			}),
			"FAIL",
			{ powershell_remoting: true },
		],
		[
			"a server that takes passwords in the clear fails",
			remote({
				installation: "Server",
				services: running("WinRM"),
				listeners: values({ listener: true }),
				basic: 1,
				plain: 1,
			}),
			"FAIL",
			{ basic_authentication: true, unencrypted_allowed: true },
		],
		[
			"a WinRM service without a listener passes",
			remote({ services: running("WinRM") }),
			"PASS",
			{ powershell_remoting: false },
		],
		[
			"settings that cannot be read are not known",
			remote({ deny: null }),
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
		[
			"a running SSH server that does not answer is not known",
			remote({ services: running("sshd") }),
			"UNKNOWN",
			{ reason: "command_missing", ssh_server: true },
		],
	]);

	const sshd = (password: string) => ({
		"sshd -T":
			`port 22\npermitrootlogin prohibit-password\npasswordauthentication ${password}\n` +
			"kbdinteractiveauthentication yes\nlistenaddress 0.0.0.0:22\nauthenticationmethods any\n",
	});

	test.each([
		["yes", "FAIL"],
		["no", "PASS"],
	])("an SSH server with passwords set to %s: %s", async (password, status) => {
		const host = windowsHost(
			REMOTE_LOGIN_SCRIPT,
			remote({ services: running("sshd") }),
			{
				commands: sshd(password),
				files: { "C:/ProgramData/ssh/sshd_config": WINDOWS_SSHD_CONFIG },
			},
		);
		expect(await remoteLogin(host)).toMatchObject({
			status,
			evidence: { port: 22, password_authentication: status === "FAIL" },
		});
	});
});

const defender = (fields: object = {}) =>
	values({
		AMServiceEnabled: true,
		AntivirusEnabled: true,
		RealTimeProtectionEnabled: true,
		AntivirusSignatureAge: 1,
		AMRunningMode: "Normal",
		IsTamperProtected: true,
		AMProductVersion: "4.18.26090.11",
		...fields,
	});
const OWN = "{D68DDC3A-831F-4fae-9E44-DA132C1ACF46}";
const OTHER = "{EC1D6F37-E411-475A-DF50-12FF7FE4AC70}";
const malware = (fields: object) => ({
	defender: defender(),
	products: values({ instanceGuid: OWN, productState: 397568 }),
	services: values(),
	...fields,
});

describe("MALWARE_PROTECTION on Windows", () => {
	cases(malwareProtection, MALWARE_PROTECTION_SCRIPT, [
		[
			"Defender in real time with fresh signatures passes",
			malware({}),
			"PASS",
			{
				engine: "microsoft_defender",
				signature_age_days: 1,
				tamper_protected: true,
			},
		],
		[
			"Defender switched off fails",
			malware({ defender: defender({ RealTimeProtectionEnabled: false }) }),
			"FAIL",
			{ real_time_protection: false },
		],
		[
			"signatures of last month fail",
			malware({ defender: defender({ AntivirusSignatureAge: 31 }) }),
			"FAIL",
			{ signatures_current: false, signature_age_days: 31 },
		],
		[
			"signatures that were never updated fail",
			malware({ defender: defender({ AntivirusSignatureAge: 4294967295 }) }),
			"FAIL",
			{ signatures_current: false },
		],
		[
			"another product that is on and current passes",
			malware({
				defender: defender({
					AMRunningMode: "Passive Mode",
					RealTimeProtectionEnabled: false,
				}),
				products: values(
					{ instanceGuid: OWN, productState: 393472 },
					{ instanceGuid: OTHER, productState: 266240 },
				),
			}),
			"PASS",
			{ engine: "third_party" },
		],
		[
			"another product with old signatures fails",
			malware({
				defender: defender({ AntivirusEnabled: false }),
				products: values({ instanceGuid: OTHER, productState: 266256 }),
			}),
			"FAIL",
			{ engine: "third_party", signatures_current: false },
		],
		[
			"another product that is off leaves it to Defender",
			malware({
				products: values({ instanceGuid: OTHER, productState: 262144 }),
			}),
			"PASS",
			{ engine: "microsoft_defender" },
		],
		[
			"a passive Defender with nothing else fails",
			malware({ defender: defender({ AMRunningMode: "Passive Mode" }) }),
			"FAIL",
			{ passive: true },
		],
		[
			"a server protected by a product we know but cannot ask is not known",
			malware({
				defender: NO_NAMESPACE,
				products: NO_NAMESPACE,
				services: values({ name: "CSFalconService" }),
			}),
			"UNKNOWN",
			{ reason: "third_party_unverified", engine: "crowdstrike" },
		],
		[
			"a server without Defender is not known",
			malware({ defender: NO_NAMESPACE, products: NO_NAMESPACE }),
			"UNKNOWN",
			{ reason: "no_known_engine" },
		],
	]);
});
