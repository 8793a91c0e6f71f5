import { type Behaviours, step } from "./behaviour.ts";

/** The evidence that the checks in agent/checks/windows report. */
export const WINDOWS: Behaviours = {
	DISK_ENCRYPTION: {
		failing: 0.06,
		needsRoot: true,
		pass: () => ({
			engine: "bitlocker",
			encryption_method: "xts_aes_128",
			conversion: "encrypted",
			data_volumes: 0,
			unprotected_data_volumes: 0,
		}),
		fail: (_, variant) => ({
			engine: "bitlocker",
			encryption_method: variant < 0.6 ? "none" : "xts_aes_128",
			conversion: variant < 0.6 ? "decrypted" : "encrypted",
			data_volumes: 0,
			unprotected_data_volumes: 0,
			...(variant < 0.6 ? {} : { protection_suspended: true }),
		}),
	},
	SCREEN_LOCK: {
		failing: 0.07,
		pass: (_, variant) => ({
			lock_enabled: true,
			source: "machine_inactivity_limit",
			idle_seconds: step(variant, [120, 120, 300]),
		}),
		fail: () => ({
			user_sessions: 1,
			sessions_with_lock: 0,
			dynamic_lock: false,
			lock_enabled: false,
		}),
	},
	FIREWALL_ENABLED: {
		failing: 0.03,
		pass: () => ({
			engine: "windows_firewall",
			domain_profile_enabled: true,
			private_profile_enabled: true,
			public_profile_enabled: true,
			inbound_allowed_by_default: false,
			service_running: true,
		}),
		fail: () => ({
			engine: "windows_firewall",
			domain_profile_enabled: true,
			private_profile_enabled: false,
			public_profile_enabled: true,
			inbound_allowed_by_default: false,
		}),
	},
	TIME_SYNC: {
		failing: 0.02,
		pass: (_, variant) => ({
			service: "w32time",
			service_running: true,
			source: "ntp",
			last_event_days: step(variant, [0, 0, 1, 2]),
			synchronized: true,
		}),
		fail: () => ({
			service: "w32time",
			service_disabled: true,
			source: "ntp",
		}),
	},
	OS_VERSION: {
		failing: 0,
		pass: ({ version }) => windowsVersion(version),
		fail: ({ version }) => windowsVersion(version),
	},
	AUTO_UPDATE: {
		failing: 0.06,
		pass: (_, variant) => ({
			mode: "automatic",
			source: variant < 0.7 ? "device_management" : "windows_default",
			last_update_days: step(variant, [3, 9, 11, 12, 25]),
		}),
		fail: () => ({
			mode: "notify",
			source: "group_policy",
			last_update_days: 64,
		}),
	},
	PASSWORD_POLICY: {
		failing: 0.08,
		pass: (_, variant) => ({
			minimum_length: step(variant, [12, 12, 14]),
			history_length: 12,
			lockout_threshold: 10,
			cloud_joined: false,
		}),
		fail: () => ({
			minimum_length: 0,
			history_length: 0,
			lockout_threshold: 10,
			cloud_joined: false,
		}),
	},
	REMOTE_LOGIN: {
		failing: 0.04,
		pass: () => ({
			remote_desktop: false,
			powershell_remoting: false,
			ssh_server: false,
		}),
		fail: () => ({
			remote_desktop: true,
			network_level_authentication: true,
			smart_card_required: false,
			remote_desktop_port: 3389,
			powershell_remoting: false,
			ssh_server: false,
		}),
	},
	MALWARE_PROTECTION: {
		failing: 0.03,
		unknown: { share: 0.02, reason: "signature_age_unknown" },
		pass: (_, variant) => ({
			engine: "microsoft_defender",
			real_time_protection: true,
			signature_age_days: step(variant, [0, 0, 1]),
			tamper_protected: true,
			signatures_current: true,
		}),
		fail: (_, variant) =>
			variant < 0.5
				? {
						engine: "microsoft_defender",
						real_time_protection: true,
						signature_age_days: 23,
						tamper_protected: true,
						signatures_current: false,
					}
				: {
						engine: "microsoft_defender",
						real_time_protection: false,
						signature_age_days: 1,
						tamper_protected: false,
					},
	},
};

function windowsVersion(version: {
	version: string;
	build?: string;
	supportedUntil?: string;
}) {
	const [build, revision] = (version.build ?? "").split(".").map(Number);
	return {
		build,
		revision,
		edition: "Professional",
		release: version.version,
		supported_until: version.supportedUntil,
	};
}
