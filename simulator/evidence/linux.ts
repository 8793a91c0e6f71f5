import type { Machine } from "../machine.ts";
import { type Behaviours, noDesktop, step } from "./behaviour.ts";

const isFedora = ({ system }: Machine) => system.distribution === "fedora";
const ssh = { ssh: true, port: 22 };

/** The evidence that the checks in agent/checks/linux report. */
export const LINUX: Behaviours = {
	DISK_ENCRYPTION: {
		failing: 0.06,
		pass: ({ system }) => ({
			root_encrypted: true,
			swap_encrypted: true,
			...(system.hasDesktop && { home_encrypted: true }),
			methods: ["luks2"],
		}),
		fail: ({ system }) =>
			system.hasDesktop
				? {
						root_encrypted: true,
						swap_encrypted: false,
						methods: ["luks2"],
						unencrypted: ["swap"],
					}
				: { root_encrypted: false, unencrypted: ["root"] },
	},
	SCREEN_LOCK: {
		failing: 0.06,
		notApplicable: noDesktop,
		pass: (machine, variant) => ({
			desktop: "gnome",
			lock_enabled: true,
			idle_seconds: step(variant, [180, 300, 300]),
			lock_delay_seconds: 0,
			...(isFedora(machine) && { enforced: true }),
		}),
		fail: () => ({ desktop: "gnome", lock_enabled: false }),
	},
	FIREWALL_ENABLED: {
		failing: 0.06,
		needsRoot: true,
		pass: (machine) => ({
			engine: isFedora(machine)
				? "firewalld"
				: machine.system.distribution === "debian"
					? "nftables"
					: "ufw",
			ipv4_filtered: true,
			ipv6_filtered: true,
		}),
		fail: () => ({
			engine: "none",
			ipv4_filtered: false,
			ipv6_filtered: false,
		}),
	},
	TIME_SYNC: {
		failing: 0.02,
		pass: (machine) => ({
			service: machine.system.hasDesktop ? "systemd-timesyncd" : "chrony",
			synchronized: true,
		}),
		fail: (machine) => ({
			service: machine.system.hasDesktop ? "systemd-timesyncd" : "chrony",
			synchronized: false,
		}),
	},
	OS_VERSION: {
		failing: 0,
		pass: (machine) => linuxVersion(machine),
		fail: (machine) => linuxVersion(machine),
	},
	AUTO_UPDATE: {
		failing: 0.08,
		pass: (machine) => ({
			mechanism: isFedora(machine) ? "dnf-automatic" : "unattended-upgrades",
		}),
		fail: (machine) => ({
			mechanism: isFedora(machine) ? "dnf-automatic" : "unattended-upgrades",
			installs: false,
		}),
	},
	PASSWORD_POLICY: {
		failing: 0.08,
		pass: (_, variant) => ({
			engine: "pam_pwquality",
			minimum_length: step(variant, [12, 12, 14]),
			lockout_attempts: 5,
		}),
		fail: () => ({ engine: "pam_unix", minimum_length: 6 }),
	},
	REMOTE_LOGIN: {
		failing: 0.05,
		needsRoot: true,
		pass: ({ system }) =>
			system.hasDesktop
				? { ssh: false }
				: {
						...ssh,
						password_authentication: false,
						root_login: "no",
						loopback_only: false,
					},
		fail: () => ({
			...ssh,
			password_authentication: true,
			root_login: "key",
			loopback_only: false,
		}),
	},
	MALWARE_PROTECTION: {
		failing: 0.03,
		pass: (machine, variant) => ({
			scanners: machine.system.hasDesktop && variant < 0.4 ? ["clamav"] : [],
			access_control: isFedora(machine) ? "selinux" : "apparmor",
		}),
		fail: () => ({
			scanners: [],
			access_control: "none",
			signatures_outdated: true,
		}),
	},
};

function linuxVersion({ system, version }: Machine) {
	return {
		distribution: system.distribution,
		version: version.version,
		supported_until: version.supportedUntil,
	};
}
