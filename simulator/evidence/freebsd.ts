import { type Behaviours, noDesktop, step } from "./behaviour.ts";

/** As agent/checks/freebsd reports. */
export const FREEBSD: Behaviours = {
	DISK_ENCRYPTION: {
		failing: 0.08,
		pass: () => ({
			root_encrypted: true,
			swap_encrypted: true,
			methods: ["geli"],
		}),
		fail: () => ({ root_encrypted: false, unencrypted: ["root"] }),
	},
	SCREEN_LOCK: {
		failing: 0,
		notApplicable: noDesktop,
		pass: () => ({ lock_enabled: true, idle_seconds: 300 }),
		fail: () => ({ lock_enabled: false }),
	},
	FIREWALL_ENABLED: {
		failing: 0.06,
		needsRoot: true,
		pass: () => ({ engine: "pf", enabled: true }),
		fail: () => ({ engine: "pf", enabled: false }),
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
		}),
		fail: ({ version }) => ({
			version: version.version,
			supported_until: version.supportedUntil,
		}),
	},
	AUTO_UPDATE: {
		failing: 0.1,
		pass: () => ({ engine: "freebsd-update", enabled: true }),
		fail: () => ({ engine: "freebsd-update", enabled: false }),
	},
	PASSWORD_POLICY: {
		failing: 0.08,
		pass: (_, variant) => ({
			engine: "pam_passwdqc",
			minimum_length: step(variant, [12, 14]),
		}),
		fail: () => ({ minimum_length: 0, policy_set: false }),
	},
	REMOTE_LOGIN: {
		failing: 0.05,
		needsRoot: true,
		pass: () => ({
			service: "sshd",
			listening: true,
			port: 22,
			password_login: false,
			root_login: "no",
			loopback_only: false,
		}),
		fail: () => ({
			service: "sshd",
			listening: true,
			port: 22,
			password_login: true,
			root_login: "no",
			loopback_only: false,
		}),
	},
	MALWARE_PROTECTION: {
		failing: 0,
		notApplicable: () => "no_builtin_protection",
		pass: () => ({}),
		fail: () => ({}),
	},
};
