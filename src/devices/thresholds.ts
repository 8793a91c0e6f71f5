/**
 * The limits by which checks judge. An organization may change each one within its bounds. The
 * agent enforces the bounds too, so no answer from the network can switch a check off.
 */
export const THRESHOLDS = {
	/** NIST SP 800-63B, which does not require particular kinds of characters. */
	min_password_length: { default: 8, least: 6, most: 64 },
	/**
	 * The longest time without input after which a screen must be locked, including any grace period
	 * (PCI DSS 8.2.8).
	 */
	max_lock_delay_seconds: { default: 15 * 60, least: 60, most: 60 * 60 },
	/** Number of days for which an available update may wait. */
	max_patch_age_days: { default: 60, least: 7, most: 180 },
	/** Age of definitions, in days. Scanners themselves warn after this time. */
	max_definitions_age_days: { default: 7, least: 1, most: 30 },
} as const;

/**
 * Choices of an organization where a limit is no number. The first word of each list is
 * the default. No word switches a check off.
 */
export const CHOICES = {
	/** Auditors differ on whether SELinux or AppArmor replaces a scanner. */
	linux_malware_protection: [
		"MANDATORY_ACCESS_CONTROL_COUNTS",
		"SCANNER_REQUIRED",
	],
} as const;

export type ThresholdName = keyof typeof THRESHOLDS;
export type ChoiceName = keyof typeof CHOICES;
export type Choices = {
	[Name in ChoiceName]: (typeof CHOICES)[Name][number];
};
/** All that an organization sends its agents to judge by. */
export type Thresholds = Record<ThresholdName, number> & Choices;

export const THRESHOLD_NAMES = Object.keys(THRESHOLDS) as ThresholdName[];
export const CHOICE_NAMES = Object.keys(CHOICES) as ChoiceName[];

export const DEFAULT_THRESHOLDS = Object.fromEntries([
	...THRESHOLD_NAMES.map((name) => [name, THRESHOLDS[name].default]),
	...CHOICE_NAMES.map((name) => [name, CHOICES[name][0]]),
]) as Thresholds;

/**
 * Returns the thresholds in a policy that came from the service or from a file. A number outside of
 * its bounds is moved to the nearest bound. An unknown word and anything else become the default.
 * Returns undefined if `policy` is not an object.
 */
export function readThresholds(policy: unknown): Thresholds | undefined {
	if (typeof policy !== "object" || policy === null) return undefined;
	const given = policy as Record<string, unknown>;
	return Object.fromEntries([
		...THRESHOLD_NAMES.map((name) => {
			const { default: usual, least, most } = THRESHOLDS[name];
			const value = given[name];
			return [
				name,
				typeof value === "number" && Number.isInteger(value)
					? Math.min(Math.max(value, least), most)
					: usual,
			];
		}),
		...CHOICE_NAMES.map((name) => [
			name,
			CHOICES[name].find((word) => word === given[name]) ?? CHOICES[name][0],
		]),
	]) as Thresholds;
}
