import { month } from "../day.ts";
import type { Employee } from "./people.ts";

/** Days are counted from today. Negative numbers are in the past. */

interface DemoAudit {
	key: string;
	framework: string;
	name: string;
	audit_type: "INTERNAL" | "EXTERNAL";
	auditor: string;
	owner: Employee;
	scope: string;
	/** Its first and its last day. */
	from: number;
	until: number;
	/** The days from which and until which its result is valid, if it has one. */
	valid?: readonly [number, number];
	state: "NOT_STARTED" | "IN_PROGRESS" | "COMPLETED" | "OUTDATED";
}

const WHOLE =
	"Development, operation and support of the booking and payment service, in Rotterdam and Lisbon";

export const AUDITS: readonly DemoAudit[] = [
	{
		key: "internal",
		framework: "iso",
		name: `Internal audit, ${month(-180)}`,
		audit_type: "INTERNAL",
		auditor: "Lucía Ferrer",
		owner: "jonas",
		scope: "Access, suppliers and backups",
		from: -180,
		until: -166,
		state: "COMPLETED",
	},
	{
		key: "surveillance",
		framework: "iso",
		name: "Surveillance audit, first year",
		audit_type: "EXTERNAL",
		auditor: "Northern Certification",
		owner: "jonas",
		scope: WHOLE,
		from: -121,
		until: -119,
		valid: [-118, 247],
		state: "COMPLETED",
	},
	{
		key: "processor",
		framework: "processor",
		name: "Audit by a hotel group, on site",
		audit_type: "EXTERNAL",
		auditor: "Seaside Hotels, internal audit",
		owner: "lucia",
		scope: "Guest data that is processed for the group",
		from: -34,
		until: 20,
		state: "IN_PROGRESS",
	},
	{
		key: "autumn",
		framework: "iso",
		name: `Internal audit, ${month(12)}`,
		audit_type: "INTERNAL",
		auditor: "Lucía Ferrer",
		owner: "jonas",
		scope: "Incidents, changes and the security of devices",
		from: 12,
		until: 26,
		state: "NOT_STARTED",
	},
	{
		key: "certification",
		framework: "iso",
		name: "Certification audit",
		audit_type: "EXTERNAL",
		auditor: "Northern Certification",
		owner: "jonas",
		scope: WHOLE,
		from: -512,
		until: -508,
		valid: [-505, -140],
		state: "OUTDATED",
	},
];

export interface DemoNonconformity {
	title: string;
	description: string;
	severity: "MINOR" | "MAJOR";
	status: "OPEN" | "IN_PROGRESS" | "CLOSED";
	owner: Employee;
	identified: number;
	due: number;
	audit?: string;
	root_cause?: string;
	corrective_action?: string;
	effectiveness_check?: string;
	/**
	 * Keys of measures and numbers of controls. The word `devices` stands for the devices that fail
	 * `failingCheck` when it is added.
	 */
	links: readonly string[];
	failingCheck?: string;
}

export const NONCONFORMITIES: readonly DemoNonconformity[] = [
	{
		title: "Disks are not encrypted",
		description:
			"Several laptops and front-desk computers report that their disk is not encrypted, some of them for more than a month.",
		severity: "MAJOR",
		status: "IN_PROGRESS",
		owner: "omar",
		identified: -27,
		due: -4,
		root_cause:
			"Replacement computers were handed out before the encryption profile had been applied, and nobody looked at the posture reports during that time.",
		corrective_action:
			"Encrypt the devices concerned. From now on a device is handed out only after its first report passes.",
		links: ["encryption", "8.1"],
		failingCheck: "DISK_ENCRYPTION",
	},
	{
		title: "Windows without security updates",
		description:
			"Devices run a release of Windows that has received no security updates since its end of support.",
		severity: "MINOR",
		status: "OPEN",
		owner: "omar",
		identified: -19,
		due: 16,
		root_cause:
			"The upgrade was held back for a driver of the key-card encoder, and the end of support was not in anybody's calendar.",
		links: ["patching", "8.8"],
		failingCheck: "OS_VERSION",
	},
	{
		title: "Host firewalls are off",
		description:
			"On some servers the firewall of the host was switched off during a migration and not switched on again.",
		severity: "MINOR",
		status: "IN_PROGRESS",
		owner: "marek",
		identified: -12,
		due: 9,
		corrective_action:
			"The image sets the rules at every start, and a failing firewall check calls the engineer on call.",
		links: ["posture", "8.20"],
		failingCheck: "FIREWALL_ENABLED",
	},
	{
		title: "The last access review is incomplete",
		description:
			"The last access review was done for nine of fourteen applications only.",
		severity: "MINOR",
		status: "OPEN",
		owner: "omar",
		identified: -33,
		due: 6,
		audit: "processor",
		root_cause:
			"Owners of five applications changed teams, and the reminder went to the former owners.",
		links: ["accessreview", "5.18"],
	},
	{
		title: "A restore test failed",
		description: `The restore test of ${month(-97)} failed: the copy at the second provider was older than a day.`,
		severity: "MAJOR",
		status: "CLOSED",
		owner: "mei",
		identified: -96,
		due: -60,
		root_cause:
			"The nightly copy had stopped after a certificate expired, and its alert went to a mailbox that nobody reads.",
		corrective_action:
			"The age of the newest copy is measured every hour and alerts the engineer on call.",
		effectiveness_check:
			"Three restore tests since then were complete. The alert was tried by stopping the copy for a day.",
		links: ["restore", "offsite", "8.13"],
	},
	{
		title: "Contractors without a confidentiality agreement",
		description:
			"Two contractors received accounts before they had signed the confidentiality agreement.",
		severity: "MINOR",
		status: "CLOSED",
		owner: "priya",
		identified: -112,
		due: -85,
		audit: "surveillance",
		root_cause: "The checklist for contractors did not have the step.",
		corrective_action:
			"The step was added; accounts are made only when the signed agreement is attached.",
		effectiveness_check: "All five contracts since then were checked.",
		links: ["contracts", "6.6"],
	},
	{
		title: "No record that equipment was wiped",
		description:
			"There is no record that equipment of former employees was wiped before it was given to others.",
		severity: "MINOR",
		status: "IN_PROGRESS",
		owner: "omar",
		identified: -112,
		due: -9,
		audit: "surveillance",
		corrective_action:
			"A form with serial number, date and signature, kept with the device.",
		links: ["leavers", "7.14"],
	},
	{
		title: "Exports of guest data are not deleted",
		description:
			"Exports of guest data that support made for hotels stay on the shared drive without a date of deletion.",
		severity: "MINOR",
		status: "OPEN",
		owner: "noah",
		identified: -30,
		due: 24,
		audit: "processor",
		links: ["deletion", "8.10"],
	},
	{
		title: "The policy names outdated algorithms",
		description:
			"The policy on cryptography names algorithms that are no longer recommended.",
		severity: "MINOR",
		status: "CLOSED",
		owner: "jonas",
		identified: -166,
		due: -128,
		audit: "internal",
		corrective_action:
			"The policy refers to the recommendations of the national authority instead of listing algorithms.",
		effectiveness_check: "Approved by the management with the policies.",
		links: ["policies", "8.24"],
	},
];
