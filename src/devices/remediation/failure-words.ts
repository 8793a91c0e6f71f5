import type { CheckKey, Evidence } from "../terms.ts";
import type { Thresholds } from "../thresholds.ts";
import { duration, limitOf } from "./limits.ts";

/**
 * Returns why a check fails, with the limit of the policy: "the minimum length is 6; at least 8 is
 * required". Without a policy, it is the limit that judged the result. Returns undefined if the
 * evidence does not show why.
 */
export function failureInWords(
	platform: string | null,
	check: CheckKey,
	evidence: Evidence,
	policy?: Thresholds | undefined,
): string | undefined {
	return WORDS[check]?.(evidence, platform, policy);
}

type Words = (
	evidence: Evidence,
	platform: string | null,
	policy: Thresholds | undefined,
) => string | undefined;

const WORDS: Partial<Record<CheckKey, Words>> = {
	DISK_ENCRYPTION: (evidence) => {
		const plain = texts(evidence.unencrypted);
		if (plain) return `not encrypted: ${plain}`;
		if (evidence.protection_suspended === true)
			return "the protection is suspended";
		const drives = count(evidence.unprotected_data_volumes);
		if (drives && evidence.conversion === "encrypted")
			return `${drives === 1 ? "an internal drive is" : `${drives} internal drives are`} not encrypted`;
		if (evidence.state === "decrypting") return "the disk is being decrypted";
		if (evidence.conversion === "encrypting")
			return "the disk is not fully encrypted yet";
		if (evidence.root_encrypted === true && evidence.swap_encrypted === false)
			return "the swap space is not encrypted";
		return "the disk is not encrypted";
	},
	SCREEN_LOCK: (evidence, platform, policy) => {
		if (evidence.lock_enabled === false)
			return "the screen does not lock automatically";
		const neverLocks =
			evidence.screen_saver_seconds === 0 && evidence.display_off_seconds === 0;
		const seconds = neverLocks ? 0 : lockSeconds(evidence, platform);
		if (seconds === undefined) return undefined;
		const limit = limitOf(
			evidence,
			"max_lock_delay_seconds",
			policy,
			(most) => seconds === 0 || seconds > most,
		);
		const most = duration(limit);
		if (seconds === 0)
			return `the screen never locks; it must lock within ${most}`;
		const isRounded = duration(seconds) === most;
		return isRounded
			? `the screen locks after ${seconds} s; at most ${limit} s are allowed`
			: `the screen locks after ${duration(seconds)}; at most ${most} are allowed`;
	},
	FIREWALL_ENABLED: (evidence) => {
		const through = texts(evidence.open_interfaces);
		if (through) return `new connections get in through ${through}`;
		const open = ["ipv4", "ipv6"].filter(
			(family) => evidence[`${family}_filtered`] === false,
		);
		if (open.length === 1)
			return `${open[0] === "ipv4" ? "IPv4" : "IPv6"} is not filtered`;
		if (evidence.open_zone !== undefined)
			return "a zone of the firewall lets everything in";
		const off = profilesOff(evidence);
		if (off.length > 0 && off.length < PROFILES.length)
			return `the firewall is off in ${off.join(" and ")} networks`;
		return isFirewallOn(evidence)
			? "the firewall lets in what it should block"
			: "the firewall is off";
	},
	TIME_SYNC: (evidence) =>
		evidence.service === "none" ||
		evidence.enabled === false ||
		evidence.service_disabled === true
			? "no service sets the clock"
			: "the clock is not synchronized",
	OS_VERSION: (evidence) =>
		typeof evidence.supported_until === "string"
			? `security updates ended on ${evidence.supported_until}`
			: "this version gets no security updates",
	AUTO_UPDATE: (evidence, _, policy) => {
		if (evidence.patches_current === false) {
			const ages = AGES.map(([field, words]) => ({
				words,
				days: count(evidence[field]) ?? 0,
			}));
			const lateFor = (limit: number) => ages.find(({ days }) => days > limit);
			const most = limitOf(
				evidence,
				"max_patch_age_days",
				policy,
				(limit) => lateFor(limit) !== undefined,
			);
			const late = lateFor(most);
			return `${late ? `${late.words} ${late.days} days` : "the patches are too old"}; at most ${most} days are allowed`;
		}
		const by = PAUSED_BY[String(evidence.paused_by)] ?? "";
		if (typeof evidence.paused_until === "string")
			return `updates are paused${by} until ${evidence.paused_until}`;
		if (by) return `updates are paused${by}`;
		if (evidence.update_server === "none")
			return "a policy points to no update server";
		return "updates are not installed automatically";
	},
	PASSWORD_POLICY: (evidence, _, policy) => {
		if (count(evidence.empty_passwords))
			return "an account has an empty password";
		const length = count(evidence.minimum_length);
		if (length === undefined)
			return evidence.enforced === false
				? "the rule for passwords is not enforced"
				: undefined;
		const least = limitOf(
			evidence,
			"min_password_length",
			policy,
			(limit) => length < limit,
		);
		return length < least
			? `the minimum length is ${length}; at least ${least} is required`
			: `the minimum length of ${length} is not enforced`;
	},
	REMOTE_LOGIN: (evidence) => {
		const open = texts(evidence.open_services);
		if (open) return `open to the network: ${open}`;
		const waysIn = WAYS_IN.filter(([field]) => evidence[field] === true).map(
			([field, words]) => EXPOSED[field]?.(evidence) ?? words,
		);
		if (evidence.root_login === "yes") waysIn.push("SSH lets root sign in");
		return waysIn.length > 0 ? waysIn.join(", ") : undefined;
	},
	MALWARE_PROTECTION: (evidence, _, policy) => {
		const days = count(evidence.signature_age_days);
		if (evidence.signatures_current === false && days !== undefined) {
			const most = limitOf(
				evidence,
				"max_definitions_age_days",
				policy,
				(limit) => days > limit,
			);
			return `the definitions are ${days} days old; at most ${most} are allowed`;
		}
		const ofXprotect = count(evidence.definitions_age_days);
		if (evidence.definitions_current === false && ofXprotect !== undefined)
			return `the definitions are ${ofXprotect} days old; at most ${limitOf(evidence, "max_patch_age_days", policy, (limit) => ofXprotect > limit)} are allowed`;
		if (
			evidence.signatures_outdated === true ||
			evidence.definitions_current === false
		)
			return `the definitions are older than ${limitOf(evidence, "max_definitions_age_days", policy, () => true)} days`;
		if (evidence.signatures_current === false)
			return "the definitions are out of date";
		if (evidence.gatekeeper === false) return "Gatekeeper is off";
		if (evidence.system_integrity_protection === false)
			return "System Integrity Protection is off";
		if (evidence.scanner_unused === true)
			return "the scanner runs, but nothing gives it files to scan";
		if (evidence.scanner_unhealthy === true)
			return "the scanner reports a problem";
		return evidence.scanner_required === true
			? "no scanner runs, and your organization requires one"
			: "the protection is off";
	},
};

/** The profiles of the Windows firewall. Each applies to networks of its kind. */
const PROFILES = ["domain", "private", "public"];

/** Returns the profiles of the Windows firewall that the evidence shows as off. */
const profilesOff = (evidence: Evidence): string[] =>
	PROFILES.filter((name) => evidence[`${name}_profile_enabled`] === false);

/** Returns true if the evidence of a failure shows a firewall that is on and lets too much in. */
export const isFirewallOn = (evidence: Evidence): boolean =>
	evidence.inbound_allowed_by_default === true ||
	(evidence.open_packets !== undefined && evidence.engine !== "none") ||
	evidence.open_zone !== undefined ||
	evidence.ipv4_filtered === true ||
	evidence.ipv6_filtered === true ||
	evidence.default_block === false ||
	(evidence.service_running !== false &&
		PROFILES.some((name) => evidence[`${name}_profile_enabled`] === true));

/** Words for what has paused the updates of Windows, if it was not the user. */
const PAUSED_BY: Record<string, string> = {
	device_management: " by device management",
	group_policy: " by a group policy",
};

/** The ages of patches, in the order in which the agent judges them. */
const AGES: [field: string, words: string][] = [
	["pending_update_days", "an available update has waited for"],
	["last_search_days", "no search for updates has succeeded for"],
	["last_update_days", "no update has been installed for"],
	["restart_pending_days", "installed updates have waited for a restart for"],
];

/** The ways in that are open, by the field of the evidence that says so. */
const WAYS_IN: [field: string, words: string][] = [
	["screen_sharing", "screen sharing is on"],
	["remote_management", "remote management is on"],
	["remote_desktop", "remote desktop is on"],
	["powershell_remoting", "PowerShell remoting is on"],
	["password_authentication", "SSH accepts passwords"],
	["password_authentication_for_some", "SSH accepts passwords from some"],
	["root_login_for_some", "SSH lets root sign in from some places"],
];

/** More exact words about a way in, if the evidence shows what is wrong with it. */
const EXPOSED: Record<string, (evidence: Evidence) => string | undefined> = {
	remote_desktop: ({ network_level_authentication }) =>
		network_level_authentication === false
			? "remote desktop is on without network-level authentication"
			: undefined,
	powershell_remoting: ({ basic_authentication, unencrypted_allowed }) =>
		basic_authentication === true && unencrypted_allowed === true
			? "PowerShell remoting accepts unencrypted passwords"
			: undefined,
};

/** Returns the seconds until the screen is locked. On macOS, `idle_seconds` includes the delay. */
export function lockSeconds(
	evidence: Evidence,
	platform: string | null,
): number | undefined {
	const idle = count(evidence.idle_seconds);
	if (idle === undefined || idle === 0) return idle;
	const delay = platform === "DARWIN" ? 0 : count(evidence.lock_delay_seconds);
	return idle + (delay ?? 0);
}

export const count = (value: unknown): number | undefined =>
	typeof value === "number" && Number.isFinite(value) && value >= 0
		? value
		: undefined;

/** Returns a list of short texts as one text. The texts come from a device. */
function texts(value: unknown): string | undefined {
	if (!Array.isArray(value)) return undefined;
	const words = value.filter(
		(one): one is string => typeof one === "string" && one.length <= 64,
	);
	return words.length > 0 ? words.slice(0, 10).join(", ") : undefined;
}
