/**
 * The words of the Device Agent API. Nothing here imports anything, so that the agent on a
 * device carries these and not the server's validation.
 */
export const PLATFORMS = ["DARWIN", "LINUX", "FREEBSD", "WINDOWS"] as const;
export const POSTURE_STATUSES = [
	"PASS",
	"FAIL",
	"UNKNOWN",
	"NOT_APPLICABLE",
] as const;

export type Platform = (typeof PLATFORMS)[number];
export type PostureStatus = (typeof POSTURE_STATUSES)[number];

/** Checks that have their own display; any other non-empty key is accepted as well. */
export const CANONICAL_CHECKS = {
	DISK_ENCRYPTION: "Full-disk encryption",
	SCREEN_LOCK: "Screen or idle lock",
	FIREWALL_ENABLED: "Host firewall",
	TIME_SYNC: "System clock synchronization",
	OS_VERSION: "Operating-system version",
	AUTO_UPDATE: "Automatic operating-system updates",
	PASSWORD_POLICY: "Local password policy",
	REMOTE_LOGIN: "Remote-login exposure",
	MALWARE_PROTECTION: "Built-in malware protection",
} as const;

export const MAX_RESULTS = 100;

/** Deeper evidence is refused: beyond some thousands of levels neither JSON.stringify nor jsonb can follow. */
export const MAX_EVIDENCE_DEPTH = 100;

export type Evidence = Record<string, unknown>;

export interface HeartbeatResponse {
	device_id: string;
	heartbeat_interval_seconds: number;
	posture_interval_seconds: number;
	/** RFC 3339 UTC, whole seconds. */
	server_time: string;
}
