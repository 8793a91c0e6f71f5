import type { CANONICAL_CHECKS } from "../../../../src/devices/terms.ts";

type Names = typeof CANONICAL_CHECKS;

/**
 * The checks that every agent knows, with what a pass means. Spelt here because the server's
 * own list brings a validator along; the type keeps the two the same.
 */
export const checks = {
	DISK_ENCRYPTION: {
		name: "Full-disk encryption",
		means:
			"The disk is encrypted, so a lost or stolen device gives away no data.",
	},
	SCREEN_LOCK: {
		name: "Screen or idle lock",
		means: "The screen locks itself when nobody uses the device for a while.",
	},
	FIREWALL_ENABLED: {
		name: "Host firewall",
		means: "The device's own firewall is on and refuses unwanted connections.",
	},
	TIME_SYNC: {
		name: "System clock synchronization",
		means:
			"The clock is set over the network, so that times in logs can be trusted.",
	},
	OS_VERSION: {
		name: "Operating-system version",
		means: "The operating system is a version that still gets security fixes.",
	},
	AUTO_UPDATE: {
		name: "Automatic operating-system updates",
		means:
			"Security fixes are installed without somebody having to think of it.",
	},
	PASSWORD_POLICY: {
		name: "Local password policy",
		means: "Accounts on the device need a password that is hard to guess.",
	},
	REMOTE_LOGIN: {
		name: "Remote-login exposure",
		means: "Nobody can log in over the network unless that is meant to be.",
	},
	MALWARE_PROTECTION: {
		name: "Built-in malware protection",
		means: "The system's own protection against malware is on.",
	},
} as const satisfies {
	[Key in keyof Names]: { name: Names[Key]; means: string };
};

/** What people call a check; the key itself for one that only its agent knows. */
export function checkLabel(key: string): string {
	return isCanonical(key) ? checks[key].name : key;
}

export function isCanonical(key: string): key is keyof typeof checks {
	return Object.hasOwn(checks, key);
}

/** The canonical checks in their order, then the others by name. */
export function inOrder(keys: Iterable<string>): string[] {
	const others = [...new Set(keys)].filter((key) => !isCanonical(key));
	return [...Object.keys(checks), ...others.sort()];
}
