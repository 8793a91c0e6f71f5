import type { Thresholds } from "./thresholds.ts";

/**
 * The terms and limits of the Device Agent API. This file imports only types, so the agent on a
 * device contains these but not the server's validation.
 */
export const PLATFORMS = ["DARWIN", "LINUX", "FREEBSD", "WINDOWS"] as const;
export const POSTURE_STATUSES = [
	"PASS",
	"FAIL",
	"UNKNOWN",
	"NOT_APPLICABLE",
] as const;

export type Platform = (typeof PLATFORMS)[number];

/** The names of the platforms for people. */
export const PLATFORM_NAMES = {
	LINUX: "Linux",
	DARWIN: "macOS",
	WINDOWS: "Windows",
	FREEBSD: "FreeBSD",
} as const satisfies Record<Platform, string>;
export type PostureStatus = (typeof POSTURE_STATUSES)[number];

/**
 * The checks that Assay knows by name, in the order in which they are reported and shown. An agent
 * may also report any other non-empty key. `passMeans` tells people what a pass means.
 */
export const CANONICAL_CHECKS = {
	DISK_ENCRYPTION: {
		name: "Full-disk encryption",
		passMeans:
			"The disk is encrypted, so a lost or stolen device gives away no data.",
	},
	SCREEN_LOCK: {
		name: "Screen or idle lock",
		passMeans:
			"The screen locks itself when nobody uses the device for a while.",
	},
	FIREWALL_ENABLED: {
		name: "Host firewall",
		passMeans:
			"The device's own firewall is on and blocks unwanted connections.",
	},
	TIME_SYNC: {
		name: "System clock synchronization",
		passMeans:
			"The clock is set over the network, so the times in logs can be trusted.",
	},
	OS_VERSION: {
		name: "Operating-system version",
		passMeans: "The operating system still gets security fixes.",
	},
	AUTO_UPDATE: {
		name: "Automatic OS updates",
		passMeans: "The device installs security fixes automatically.",
	},
	PASSWORD_POLICY: {
		name: "Local password policy",
		passMeans: "Accounts on the device need a password that is hard to guess.",
	},
	REMOTE_LOGIN: {
		name: "Remote-login exposure",
		passMeans:
			"Nobody can log in over the network, unless that is intended and protected.",
	},
	MALWARE_PROTECTION: {
		name: "Built-in malware protection",
		passMeans: "The system's own protection against malware is on.",
	},
} as const;

export type CheckKey = keyof typeof CANONICAL_CHECKS;

export const CHECK_KEYS = Object.keys(CANONICAL_CHECKS) as CheckKey[];

/** Returns true if `key` is one of the checks that Assay knows by name. */
export function isCanonicalCheck(key: string): key is CheckKey {
	return Object.hasOwn(CANONICAL_CHECKS, key);
}

const foldKey = (text: string) =>
	text
		.toLowerCase()
		.replace(/[\s_-]+/g, " ")
		.trim();

/** Returns the key of the canonical check that a text names by its key or name, in any case. */
export function findCanonical(text: string): CheckKey | undefined {
	const wanted = foldKey(text);
	return CHECK_KEYS.find(
		(key) =>
			foldKey(key) === wanted || foldKey(CANONICAL_CHECKS[key].name) === wanted,
	);
}

/**
 * Returns the key of the canonical check that a text names. Any other text stays: it may be the key
 * of a check that an agent has made up.
 */
export const canonicalKey = (text: string): string =>
	findCanonical(text) ?? text;

/**
 * Default intervals, in seconds, at which an agent sends a heartbeat and a report. An organization
 * can change both.
 */
export const DEFAULT_HEARTBEAT_INTERVAL_SECONDS = 300;
export const DEFAULT_POSTURE_INTERVAL_SECONDS = 3600;

/**
 * Shortest and longest intervals, in seconds, that an organization can choose. CHECKs in sql/ have
 * them too.
 */
export const HEARTBEAT_SECONDS = { min: 30, max: 86_400 };
export const POSTURE_SECONDS = { min: 60, max: 604_800 };

/**
 * Shortest intervals, in seconds, that common agents obey. They use these if an organization's are
 * shorter, so a device then looks stale although its agent works.
 */
export const SHORTEST_HEARTBEAT_SECONDS = 60;
export const SHORTEST_POSTURE_SECONDS = 900;

/** Returns a warning for each interval that is shorter than common agents obey. */
export function intervalWarnings(organization: {
	heartbeat_interval_seconds: number;
	posture_interval_seconds: number;
}): string[] {
	const warnings: string[] = [];
	const { heartbeat_interval_seconds, posture_interval_seconds } = organization;
	if (heartbeat_interval_seconds < SHORTEST_HEARTBEAT_SECONDS) {
		warnings.push(
			`Some agents, such as probo-agent, send no heartbeat more often than every ${SHORTEST_HEARTBEAT_SECONDS} seconds, so their devices may look stale.`,
		);
	}
	if (posture_interval_seconds < SHORTEST_POSTURE_SECONDS) {
		warnings.push(
			`Some agents, such as probo-agent, send no report more often than every ${SHORTEST_POSTURE_SECONDS / 60} minutes, so their devices may be shown as not reporting.`,
		);
	}
	return warnings;
}

/**
 * A device is stale when it has missed this many intervals, plus a few seconds for a slow network.
 */
export const INTERVALS_UNTIL_STALE = 2;
export const STALE_SLACK_SECONDS = 60;

/**
 * Days without a heartbeat after which a device is missing. The function `count_devices` in sql/
 * has them too.
 */
export const MISSING_DAYS = 7;

/**
 * Returns the number of seconds after which a device counts as stale, from its last heartbeat or
 * report.
 */
export function staleAfterSeconds(intervalSeconds: number): number {
	return INTERVALS_UNTIL_STALE * intervalSeconds + STALE_SLACK_SECONDS;
}

export const MAX_RESULTS = 100;

/** Longest `hardware_uuid` and `check_key`, in UTF-16 code units. */
export const MAX_KEY_LENGTH = 200;

/** Longest text about a device that is stored for people to read. Longer texts are cut. */
export const MAX_DISPLAY_LENGTH = 255;

/** Largest number of non-canonical checks that a device may use within OTHER_CHECKS_DAYS days. */
export const MAX_OTHER_CHECKS = 200;
export const OTHER_CHECKS_DAYS = 90;

/**
 * Largest number of bytes of reports that a device may store within an hour. When an agent returns
 * after a while offline, its full queue must fit into this limit.
 */
export const MAX_HOURLY_BYTES = 64 * 1024 * 1024;

export type Evidence = Record<string, unknown>;

export interface HeartbeatResponse {
	/** The thresholds of the organization. An agent that does not know them ignores them. */
	policy?: Thresholds | undefined;
	/** The newest version of Assay's agent that the service offers. */
	newest_agent_version?: string | undefined;
	device_id: string;
	heartbeat_interval_seconds: number;
	posture_interval_seconds: number;
	/** Time of the service: RFC 3339 in UTC, in whole seconds. */
	server_time: string;
}
