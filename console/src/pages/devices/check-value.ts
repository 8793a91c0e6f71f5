import {
	count,
	duration,
	lockSeconds,
} from "../../../../src/devices/remediation/failure-words.ts";
import { isCanonicalCheck } from "../../../../src/devices/terms.ts";
import type { Device } from "../../parts/devices/device-words.tsx";

type Posture = Device["postures"][number];

/**
 * Returns the value that a check found, in a few words: "Off", "8 characters", "after 5 min".
 * Returns undefined if the status says it all or the evidence does not show it.
 */
export function checkValue(
	{ check_key: check, status, evidence }: Posture,
	platform: string | null,
): string | undefined {
	const isJudged = status === "PASS" || status === "FAIL";
	if (!isJudged || !isCanonicalCheck(check) || !evidence) return undefined;
	switch (check) {
		case "SCREEN_LOCK": {
			if (evidence.lock_enabled === false) return "Off";
			const seconds = lockSeconds(evidence, platform);
			if (seconds === undefined) return undefined;
			return seconds === 0 ? "Never" : `after ${duration(seconds)}`;
		}
		case "PASSWORD_POLICY": {
			const length = count(evidence.minimum_length);
			return length === undefined
				? undefined
				: `${length} ${length === 1 ? "character" : "characters"}`;
		}
		case "OS_VERSION":
			return typeof evidence.supported_until === "string"
				? `until ${evidence.supported_until}`
				: undefined;
		case "MALWARE_PROTECTION": {
			const days = count(evidence.signature_age_days);
			if (days !== undefined)
				return `${days} ${days === 1 ? "day" : "days"} old`;
			return onOrOff(status);
		}
		case "TIME_SYNC":
			return status === "PASS" ? "Synchronized" : "Not synchronized";
		case "DISK_ENCRYPTION":
			return status === "PASS" ? "Encrypted" : "Not encrypted";
		case "REMOTE_LOGIN":
			return status === "PASS" ? "Closed" : "Open";
		case "FIREWALL_ENABLED":
		case "AUTO_UPDATE":
			return onOrOff(status);
	}
}

const onOrOff = (status: Posture["status"]) =>
	status === "PASS" ? "On" : "Off";
