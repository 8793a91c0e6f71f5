import { type Behaviours, noDesktop, step } from "./behaviour.ts";

/** The evidence that the checks in agent/checks/freebsd report. */
export const FREEBSD: Behaviours = {
	DISK_ENCRYPTION: {
		failing: 0.08,
		pass: () => ({
			file_system: "zfs",
			engine: "geli",
			root_encrypted: true,
			swap_encrypted: true,
		}),
		fail: () => ({
			file_system: "zfs",
			engine: "none",
			root_encrypted: false,
			swap_encrypted: false,
			unencrypted: ["root", "swap"],
		}),
	},
	SCREEN_LOCK: {
		failing: 0,
		notApplicable: noDesktop,
		pass: () => ({ lock_enabled: true, idle_seconds: 300 }),
		fail: () => ({ lock_enabled: false, locker: "none" }),
	},
	FIREWALL_ENABLED: {
		failing: 0.06,
		needsRoot: true,
		pass: () => ({ engine: "pf", enabled: true, default_block: true }),
		fail: () => ({ enabled: false }),
	},
	TIME_SYNC: {
		failing: 0.03,
		pass: () => ({ service: "ntpd", synchronized: true }),
		fail: () => ({ service: "ntpd", synchronized: false }),
	},
	OS_VERSION: {
		failing: 0,
		pass: ({ version }) => ({
			version: version.version,
			supported_until: version.supportedUntil,
			supported: true,
		}),
		fail: ({ version }) => ({
			version: version.version,
			supported_until: version.supportedUntil,
			supported: false,
		}),
	},
	AUTO_UPDATE: {
		failing: 0.1,
		pass: () => ({ mechanism: "freebsd-update", packages: true }),
		fail: () => ({
			mechanism: "freebsd-update",
			download_only: true,
			packages: false,
		}),
	},
	PASSWORD_POLICY: {
		failing: 0.08,
		pass: (_, variant) => ({
			quality_module: "pam_passwdqc",
			minimum_length: step(variant, [12, 14]),
			enforced_for_root: true,
		}),
		fail: () => ({ minimum_length: 0, quality_module: "none" }),
	},
	REMOTE_LOGIN: {
		failing: 0.05,
		needsRoot: true,
		pass: () => ({
			ssh_running: true,
			port: 22,
			password_authentication: false,
			root_login: "no",
			loopback_only: false,
		}),
		fail: () => ({
			ssh_running: true,
			port: 22,
			password_authentication: true,
			root_login: "no",
			loopback_only: false,
		}),
	},
	MALWARE_PROTECTION: {
		failing: 0,
		notApplicable: () => "no_built_in_protection",
		pass: () => ({}),
		fail: () => ({}),
	},
};
