import {
	type ChoiceName,
	type Choices,
	THRESHOLDS,
	type ThresholdName,
} from "../../../../src/devices/thresholds.ts";
import { FIELD_LABELS } from "../../parts/field-labels.ts";

const LABELS = FIELD_LABELS.device_policy;

interface PolicyField {
	name: ThresholdName;
	label: string;
	description: string;
	unit: string;
	/** Number of the service's units in one unit that people see. */
	perUnit: number;
}

/** The thresholds in the order and with the words of the page. */
export const POLICY_FIELDS: PolicyField[] = [
	{
		name: "min_password_length",
		label: LABELS.min_password_length,
		description: "The smallest minimum length that a device may allow",
		unit: "characters",
		perUnit: 1,
	},
	{
		name: "max_lock_delay_seconds",
		label: LABELS.max_lock_delay_seconds,
		description: "Time without input, with any grace period",
		unit: "minutes",
		perUnit: 60,
	},
	{
		name: "max_patch_age_days",
		label: LABELS.max_patch_age_days,
		description: "Days that an available update may wait",
		unit: "days",
		perUnit: 1,
	},
	{
		name: "max_definitions_age_days",
		label: LABELS.max_definitions_age_days,
		description: "Age of the definitions of a scanner",
		unit: "days old",
		perUnit: 1,
	},
];

interface PolicyChoice<Name extends ChoiceName = ChoiceName> {
	name: Name;
	label: string;
	description: string;
	/** The words of the service, the default first, with the page's words. */
	options: { value: Choices[Name]; label: string }[];
}

/** The values that the organization chooses between. */
export const POLICY_CHOICES: PolicyChoice[] = [
	{
		name: "linux_malware_protection",
		label: LABELS.linux_malware_protection,
		description: "Linux has no scanner of its own",
		options: [
			{
				value: "MANDATORY_ACCESS_CONTROL_COUNTS",
				label: "SELinux, AppArmor or a scanner",
			},
			{ value: "SCANNER_REQUIRED", label: "A scanner is required" },
		],
	},
];

/** Returns a value with the unit that people see, such as "15 minutes" for 900 seconds. */
export function inUnit({ unit, perUnit }: PolicyField, value: number): string {
	const shown = value / perUnit;
	return `${shown} ${shown === 1 ? unit.replace(/s\b/, "") : unit}`;
}

/** Returns the page's words for a choice. */
export const describeChoice = (
	{ options }: PolicyChoice,
	chosen: string,
): string => options.find(({ value }) => value === chosen)?.label ?? chosen;

/** Returns the bounds and the default of a field in the unit that people see. */
export function boundsOf({ name, perUnit }: PolicyField) {
	const { least, most, default: usual } = THRESHOLDS[name];
	return {
		min: least / perUnit,
		max: most / perUnit,
		usual: usual / perUnit,
	};
}
