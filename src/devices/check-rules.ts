import { CHECK_KEYS, PLATFORMS, type Platform } from "./terms.ts";

/** Largest number of days of grace. */
export const MAX_GRACE_DAYS = 90;

/** Longest silence, in days, after which the last status of a check is still believed. */
export const SILENCE_DAYS = { default: 3, least: 1, most: 30 } as const;

/** An organization's rule for one check. */
export interface CheckRule {
	is_required: boolean;
	platforms: Platform[];
	/** Days for which a device may fail the check before it is FAILING. */
	grace_days: number;
	/** Days from its activation for which a new device may fail the check. */
	new_device_grace_days: number;
	/** Says whether the service opens a nonconformity when a device is FAILING. */
	opens_nonconformity: boolean;
	/** One nonconformity for each device, instead of one for the check. */
	per_device: boolean;
	severity: "MINOR" | "MAJOR";
	/** Person who owns the nonconformities. */
	owner_id: string | null;
}

export const SEVERITIES = ["MINOR", "MAJOR"] as const;

export const RULE_FIELDS = [
	"is_required",
	"platforms",
	"grace_days",
	"new_device_grace_days",
	"opens_nonconformity",
	"per_device",
	"severity",
	"owner_id",
] as const satisfies (keyof CheckRule)[];

/**
 * Three days let a device recover from what people notice and undo themselves, and let a Friday's
 * failure wait for Monday. A new device gets a week, the usual time to set it up.
 */
export const DEFAULT_GRACE_DAYS = 3;
export const DEFAULT_NEW_DEVICE_GRACE_DAYS = 7;

/** The check whose failure is MAJOR unless the policy says otherwise. */
export const MAJOR_CHECK = "DISK_ENCRYPTION";

/**
 * Returns the rule of a check that the organization has not changed. The canonical checks are
 * required on every platform. Where a check does not exist, its agent reports NOT_APPLICABLE. A
 * check that only its agent knows is not required.
 */
export function defaultRule(checkKey: string): CheckRule {
	return {
		is_required: (CHECK_KEYS as string[]).includes(checkKey),
		platforms: [...PLATFORMS],
		grace_days: DEFAULT_GRACE_DAYS,
		new_device_grace_days: DEFAULT_NEW_DEVICE_GRACE_DAYS,
		opens_nonconformity: true,
		per_device: false,
		// A lost laptop with an open disk is a leak of everything on it.
		severity: checkKey === MAJOR_CHECK ? "MAJOR" : "MINOR",
		owner_id: null,
	};
}
