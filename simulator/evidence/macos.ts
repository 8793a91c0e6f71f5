import { type Behaviours, step } from "./behaviour.ts";

/** The evidence that the checks in agent/checks/macos report. */
export const MACOS: Behaviours = {
	DISK_ENCRYPTION: {
		failing: 0.03,
		pass: () => ({ engine: "filevault", state: "on" }),
		fail: () => ({ engine: "filevault", state: "off" }),
	},
	SCREEN_LOCK: {
		failing: 0.05,
		pass: (_, variant) => {
			const idle = step(variant, [120, 180, 300, 300]);
			return {
				lock_enabled: true,
				lock_delay_seconds: 0,
				screen_saver_seconds: idle,
				display_off_seconds: 600,
				managed: true,
				idle_seconds: idle,
			};
		},
		fail: () => ({
			lock_enabled: true,
			lock_delay_seconds: 300,
			screen_saver_seconds: 1200,
			display_off_seconds: 1800,
			managed: false,
			idle_seconds: 1500,
		}),
	},
	FIREWALL_ENABLED: {
		failing: 0.05,
		pass: (_, variant) => ({
			engine: "application_firewall",
			enabled: true,
			block_all: variant > 0.95,
		}),
		fail: () => ({ engine: "application_firewall", enabled: false }),
	},
	TIME_SYNC: {
		failing: 0.01,
		needsRoot: true,
		pass: () => ({ service: "timed", enabled: true, managed: false }),
		fail: () => ({ service: "timed", enabled: false, managed: false }),
	},
	OS_VERSION: {
		failing: 0,
		pass: ({ version }) => ({
			version: version.version,
			build: version.build,
			supported_until: version.supportedUntil,
			estimated: true,
			supported: true,
		}),
		fail: ({ version }) => ({
			version: version.version,
			build: version.build,
			supported: false,
			supported_until: version.supportedUntil,
		}),
	},
	AUTO_UPDATE: {
		failing: 0.07,
		unknown: { share: 0.04, reason: "not_configured" },
		pass: (_, variant) => ({
			check: true,
			download: true,
			install: true,
			install_security: true,
			managed: variant < 0.8,
			pending_updates: step(variant, [0, 0, 0, 1]),
		}),
		fail: () => ({
			check: true,
			download: true,
			install: false,
			install_security: true,
			managed: false,
			pending_updates: 2,
		}),
	},
	PASSWORD_POLICY: {
		failing: 0.06,
		pass: (_, variant) => ({
			minimum_length: step(variant, [12, 12, 14]),
			lockout_after_failures: 10,
		}),
		fail: () => ({ minimum_length: 0, policy_set: false }),
	},
	REMOTE_LOGIN: {
		failing: 0.04,
		pass: () => ({
			ssh: false,
			screen_sharing: false,
			remote_management: false,
		}),
		fail: () => ({
			ssh: false,
			screen_sharing: true,
			remote_management: false,
		}),
	},
	MALWARE_PROTECTION: {
		failing: 0.01,
		pass: (_, variant) => ({
			engine: "xprotect",
			definitions_version: String(5321 + Math.floor(variant * 4)),
			gatekeeper: true,
			system_integrity_protection: true,
		}),
		fail: () => ({
			engine: "xprotect",
			definitions_version: "5321",
			gatekeeper: false,
			system_integrity_protection: true,
		}),
	},
};
