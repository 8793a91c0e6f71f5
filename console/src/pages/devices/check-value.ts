import {
	count,
	isFirewallOn,
	lockSeconds,
} from "../../../../src/devices/remediation/failure-words.ts";
import { duration } from "../../../../src/devices/remediation/limits.ts";
import {
	type Evidence,
	isCanonicalCheck,
	type PostureStatus,
} from "../../../../src/devices/terms.ts";
import { formatDay } from "../../parts/days.ts";

/** The latest result of a check on a device. */
interface Posture {
	check_key: string;
	status: PostureStatus;
	evidence?: Evidence | null | undefined;
}

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
			if (count(evidence.empty_passwords)) return "Empty password";
			if (evidence.enforced === false) return "Not enforced";
			const length = count(evidence.minimum_length);
			return length === undefined
				? undefined
				: `${length} ${length === 1 ? "character" : "characters"}`;
		}
		case "OS_VERSION":
			return typeof evidence.supported_until === "string"
				? `until ${formatDay(evidence.supported_until)}`
				: undefined;
		case "MALWARE_PROTECTION":
			return malwareValue(status, evidence);
		case "TIME_SYNC":
			return status === "PASS" ? "Synchronized" : "Not synchronized";
		case "DISK_ENCRYPTION":
			if (status === "PASS") return "Encrypted";
			if (evidence.protection_suspended === true) return "Suspended";
			return evidence.root_encrypted === true ||
				evidence.conversion === "encrypted"
				? "In part"
				: "Not encrypted";
		case "REMOTE_LOGIN":
			return status === "PASS" ? "Closed" : "Open";
		case "FIREWALL_ENABLED":
			if (status === "PASS") return "On";
			if (!isFirewallOn(evidence)) return "Off";
			return evidence.inbound_allowed_by_default === false ? "In part" : "Open";
		case "AUTO_UPDATE":
			if (status === "PASS") return "On";
			if (evidence.patches_current === false) return "Overdue";
			return (evidence.paused_until ?? evidence.paused_by) === undefined
				? "Off"
				: "Paused";
	}
}

function malwareValue(status: Posture["status"], evidence: Evidence): string {
	if (evidence.real_time_protection === false) return "Off";
	const days =
		count(evidence.signature_age_days) ?? count(evidence.definitions_age_days);
	const isOld =
		evidence.signatures_current === false ||
		evidence.signatures_outdated === true ||
		evidence.definitions_current === false;
	if (days !== undefined && (isOld || status === "PASS"))
		return `${days} ${days === 1 ? "day" : "days"} old`;
	if (isOld) return "Out of date";
	return status === "PASS" ? "On" : "Off";
}
