import {
	type ChoiceName,
	type Choices,
	THRESHOLDS,
	type ThresholdName,
} from "../../../../src/devices/thresholds.ts";

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
		label: "Shortest password",
		description: "The smallest minimum length that a device may allow",
		unit: "characters",
		perUnit: 1,
	},
	{
		name: "max_lock_delay_seconds",
		label: "Screen locks after at most",
		description: "Time without input, with any grace period",
		unit: "minutes",
		perUnit: 60,
	},
	{
		name: "max_patch_age_days",
		label: "Updates are installed within",
		description: "Days that an available update may wait",
		unit: "days",
		perUnit: 1,
	},
	{
		name: "max_definitions_age_days",
		label: "Malware definitions are at most",
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
		label: "Malware protection on Linux",
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
