import { month } from "../day.ts";
import type { Employee } from "./people.ts";

/** Days are counted from today. Negative numbers are in the past. */

export const AUDITS = [
	{
		key: "internal",
		framework: "iso",
		name: `Internal audit, ${month(-180)}`,
		from: -180,
		until: -166,
		state: "COMPLETED",
	},
	{
		key: "surveillance",
		framework: "iso",
		name: "Surveillance audit, first year",
		from: -118,
		until: 247,
		state: "COMPLETED",
	},
	{
		key: "processor",
		framework: "processor",
		name: "Audit by a hotel group, on site",
		from: -34,
		until: 331,
		state: "IN_PROGRESS",
	},
	{
		key: "autumn",
		framework: "iso",
		name: `Internal audit, ${month(12)}`,
		from: 12,
		until: 26,
		state: "NOT_STARTED",
	},
	{
		key: "certification",
		framework: "iso",
		name: "Certification audit",
		from: -505,
		until: -140,
		state: "OUTDATED",
	},
] as const;

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
	 * `failingCheck` now.
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

export interface DemoObligation {
	requirement: string;
	source: string;
	area: string;
	regulator: string | null;
	type: "LEGAL" | "CONTRACTUAL";
	status: "COMPLIANT" | "PARTIALLY_COMPLIANT" | "NON_COMPLIANT";
	owner: Employee;
	/** Day of the last review. */
	reviewed: number;
	due: number;
	/** The actions that remain to be done. */
	actions?: string;
}

export const OBLIGATIONS: readonly DemoObligation[] = [
	{
		requirement: "Report breaches of personal data within 72 hours",
		source: "GDPR, article 33",
		area: "Privacy",
		regulator: "Autoriteit Persoonsgegevens",
		type: "LEGAL",
		status: "COMPLIANT",
		owner: "lucia",
		reviewed: 40,
		due: 140,
	},
	{
		requirement: "Keep a record of processing activities",
		source: "GDPR, article 30",
		area: "Privacy",
		regulator: "Autoriteit Persoonsgegevens",
		type: "LEGAL",
		status: "PARTIALLY_COMPLIANT",
		owner: "lucia",
		reviewed: 75,
		due: 10,
		actions: "Add the reporting database and the new call recordings.",
	},
	{
		requirement: "Have a data protection officer and publish how to reach them",
		source: "GDPR, article 37",
		area: "Privacy",
		regulator: "Autoriteit Persoonsgegevens",
		type: "LEGAL",
		status: "COMPLIANT",
		owner: "lucia",
		reviewed: 90,
		due: 270,
	},
	{
		requirement: "Assess the impact of processing identity documents",
		source: "GDPR, article 35",
		area: "Privacy",
		regulator: "Autoriteit Persoonsgegevens",
		type: "LEGAL",
		status: "PARTIALLY_COMPLIANT",
		owner: "lucia",
		reviewed: 21,
		due: 31,
		actions:
			"The assessment is written; the opinion of the works council is missing.",
	},
	{
		requirement: "Meet the security measures for important entities",
		source: "NIS 2 directive, national law",
		area: "Security",
		regulator: "Rijksinspectie Digitale Infrastructuur",
		type: "LEGAL",
		status: "PARTIALLY_COMPLIANT",
		owner: "jonas",
		reviewed: 33,
		due: 58,
		actions:
			"Register as an entity, and approve the measures in a meeting of the management.",
	},
	{
		requirement: "Keep accounting records for seven years",
		source: "Tax law of the Netherlands",
		area: "Finance",
		regulator: "Belastingdienst",
		type: "LEGAL",
		status: "COMPLIANT",
		owner: "ines",
		reviewed: 120,
		due: 200,
	},
	{
		requirement: "Confirm each year that card data does not reach our systems",
		source: "PCI DSS, questionnaire A",
		area: "Payments",
		regulator: null,
		type: "CONTRACTUAL",
		status: "COMPLIANT",
		owner: "aisha",
		reviewed: 150,
		due: 45,
	},
	{
		requirement:
			"Let key customers see the summary of a yearly penetration test",
		source: "Framework agreement with hotel groups",
		area: "Customers",
		regulator: null,
		type: "CONTRACTUAL",
		status: "NON_COMPLIANT",
		owner: "jonas",
		reviewed: 14,
		due: -11,
		actions:
			"The test is done; the summary has to be written and sent to three hotel groups.",
	},
	{
		requirement: "Announce new subprocessors 30 days ahead",
		source: "Processing agreement, section 6",
		area: "Customers",
		regulator: null,
		type: "CONTRACTUAL",
		status: "COMPLIANT",
		owner: "lucia",
		reviewed: 60,
		due: 120,
	},
	{
		requirement: "Be available 99.9 % of each month",
		source: "Service level agreement",
		area: "Customers",
		regulator: null,
		type: "CONTRACTUAL",
		status: "COMPLIANT",
		owner: "mei",
		reviewed: 18,
		due: 75,
	},
	{
		requirement: "Make the booking pages accessible",
		source: "European Accessibility Act",
		area: "Product",
		regulator: "Autoriteit Consument & Markt",
		type: "LEGAL",
		status: "PARTIALLY_COMPLIANT",
		owner: "hannah",
		reviewed: 48,
		due: 19,
		actions: "Calendar and payment step still fail with a screen reader.",
	},
	{
		requirement: "Send guest registrations to the authorities of Portugal",
		source: "Law 23/2007, article 16",
		area: "Product",
		regulator: "AIMA",
		type: "LEGAL",
		status: "COMPLIANT",
		owner: "elena",
		reviewed: 30,
		due: 160,
	},
];

export interface DemoTask {
	name: string;
	description: string | null;
	priority: "URGENT" | "HIGH" | "MEDIUM" | "LOW";
	state: "TODO" | "IN_PROGRESS" | "DONE";
	assignee: Employee;
	due: number;
	/** Key of the measure that the task belongs to. */
	measure?: string;
}

export const TASKS: readonly DemoTask[] = [
	{
		name: `Encrypt the laptops that were handed out in ${month(-38)}`,
		description:
			"The list is linked to the nonconformity. Recovery keys go to the vault.",
		priority: "URGENT",
		state: "IN_PROGRESS",
		assignee: "omar",
		due: -2,
		measure: "encryption",
	},
	{
		name: "Order hardware keys for the last four administrators",
		description: null,
		priority: "HIGH",
		state: "IN_PROGRESS",
		assignee: "jonas",
		due: 3,
		measure: "hardwarekeys",
	},
	{
		name: "Upgrade Windows 24H2 computers",
		description:
			"Try the driver of the key-card encoder on two computers first.",
		priority: "HIGH",
		state: "TODO",
		assignee: "omar",
		due: 12,
		measure: "patching",
	},
	{
		name: "Write the summary of the penetration test for customers",
		description:
			"Two pages without technical details; Lucía reads it before it is sent.",
		priority: "URGENT",
		state: "TODO",
		assignee: "jonas",
		due: -6,
		measure: "pentest",
	},
	{
		name: "Replace front-desk computers in Porto and Braga",
		description: "Eleven computers. Hotels are told a week ahead.",
		priority: "MEDIUM",
		state: "IN_PROGRESS",
		assignee: "jan",
		due: 20,
		measure: "frontdesk",
	},
	{
		name: "Review access in the five applications left over",
		description: null,
		priority: "HIGH",
		state: "TODO",
		assignee: "omar",
		due: 5,
		measure: "accessreview",
	},
	{
		name: "Collect the new audit report of Zendesk",
		description: null,
		priority: "MEDIUM",
		state: "TODO",
		assignee: "noah",
		due: 27,
		measure: "vendorreview",
	},
	{
		name: "Collect the new audit report of HubSpot",
		description: null,
		priority: "LOW",
		state: "TODO",
		assignee: "liam",
		due: 34,
		measure: "vendorreview",
	},
	{
		name: "Ask Plausible how long raw data is kept",
		description: null,
		priority: "LOW",
		state: "TODO",
		assignee: "grace",
		due: 41,
		measure: "vendorreview",
	},
	{
		name: "Delete exports on the shared drive after 30 days",
		description:
			"A rule of the drive is enough; support keeps a folder without the rule for open tickets.",
		priority: "MEDIUM",
		state: "TODO",
		assignee: "samuel",
		due: 22,
		measure: "deletion",
	},
	{
		name: "Remove guest names from closed tickets",
		description:
			"Two years after the ticket was closed. Zendesk has a job for it.",
		priority: "MEDIUM",
		state: "IN_PROGRESS",
		assignee: "samuel",
		due: 48,
		measure: "deletion",
	},
	{
		name: "Show bookings in the support tool only with an open ticket",
		description: "Second step: write down who looked at what.",
		priority: "HIGH",
		state: "IN_PROGRESS",
		assignee: "elena",
		due: 15,
		measure: "supportscope",
	},
	{
		name: "Plan the recovery exercise",
		description:
			"Half a day in the quiet season. Everybody on call takes part.",
		priority: "MEDIUM",
		state: "TODO",
		assignee: "mei",
		due: 38,
		measure: "continuity",
	},
	{
		name: `Restore test of ${month(-8)}`,
		description: null,
		priority: "HIGH",
		state: "DONE",
		assignee: "marek",
		due: -8,
		measure: "restore",
	},
	{
		name: `Restore test of ${month(23)}`,
		description: null,
		priority: "HIGH",
		state: "TODO",
		assignee: "marek",
		due: 23,
		measure: "restore",
	},
	{
		name: "Raise the floor of supported browser versions",
		description: null,
		priority: "LOW",
		state: "TODO",
		assignee: "sofia",
		due: 60,
	},
	{
		name: "Move the last three services to the weekly image",
		description: null,
		priority: "MEDIUM",
		state: "IN_PROGRESS",
		assignee: "marek",
		due: 11,
		measure: "patching",
	},
	{
		name: "Update the payment library to the next major version",
		description: "The old one has no security updates after this quarter.",
		priority: "HIGH",
		state: "IN_PROGRESS",
		assignee: "aisha",
		due: 8,
		measure: "dependencies",
	},
	{
		name: "Train a second engineer on payouts",
		description: "Three sessions, and one incident handled together.",
		priority: "MEDIUM",
		state: "IN_PROGRESS",
		assignee: "aisha",
		due: 45,
	},
	{
		name: "Phishing simulation, third of the year",
		description: null,
		priority: "MEDIUM",
		state: "TODO",
		assignee: "priya",
		due: 9,
		measure: "training",
	},
	{
		name: "Security training of the people who joined last quarter",
		description: null,
		priority: "HIGH",
		state: "DONE",
		assignee: "priya",
		due: -15,
		measure: "training",
	},
	{
		name: "Add call recordings to the record of processing",
		description: null,
		priority: "MEDIUM",
		state: "TODO",
		assignee: "lucia",
		due: 7,
	},
	{
		name: "Register as an important entity",
		description: null,
		priority: "HIGH",
		state: "TODO",
		assignee: "jonas",
		due: 30,
	},
	{
		name: "Form for wiped equipment",
		description: null,
		priority: "MEDIUM",
		state: "IN_PROGRESS",
		assignee: "omar",
		due: -9,
		measure: "leavers",
	},
	{
		name: "Alert on failing firewall checks",
		description: null,
		priority: "HIGH",
		state: "DONE",
		assignee: "marek",
		due: -5,
		measure: "posture",
	},
	{
		name: "Rotate the deployment keys",
		description:
			"The yearly rotation; the pipeline reads the new ones from the vault.",
		priority: "MEDIUM",
		state: "DONE",
		assignee: "mei",
		due: -20,
	},
	{
		name: "Replace shared accounts at the reception of Hotel Vasco",
		description: null,
		priority: "MEDIUM",
		state: "TODO",
		assignee: "jan",
		due: 18,
		measure: "frontdesk",
	},
	{
		name: "Prepare the list of data for classification",
		description: null,
		priority: "LOW",
		state: "TODO",
		assignee: "jonas",
		due: 70,
		measure: "classification",
	},
];

export interface DemoImprovement {
	description: string;
	source: string;
	owner: Employee;
	target: number;
	status: "OPEN" | "IN_PROGRESS" | "CLOSED";
	priority: "LOW" | "MEDIUM" | "HIGH";
}

export const IMPROVEMENTS: readonly DemoImprovement[] = [
	{
		description:
			"Open a task by itself when a check fails for more than a week",
		source: "Nonconformity on disk encryption",
		owner: "jonas",
		target: 21,
		status: "IN_PROGRESS",
		priority: "HIGH",
	},
	{
		description:
			"Tell the owner of a device what fails and how to mend it, instead of writing by hand",
		source: "Suggestion of IT",
		owner: "omar",
		target: 49,
		status: "OPEN",
		priority: "MEDIUM",
	},
	{
		description: "One list of suppliers for finance, legal and security",
		source: "Management review",
		owner: "ines",
		target: 35,
		status: "IN_PROGRESS",
		priority: "MEDIUM",
	},
	{
		description: "Shorten the policies to two pages each",
		source: "Survey among employees",
		owner: "jonas",
		target: 90,
		status: "OPEN",
		priority: "LOW",
	},
	{
		description:
			"Practise the report of a breach with support and legal together",
		source: `Review of the incident in ${month(-152)}`,
		owner: "lucia",
		target: -3,
		status: "IN_PROGRESS",
		priority: "HIGH",
	},
	{
		description: "Measure the time from a finding to its correction",
		source: "Internal audit",
		owner: "clara",
		target: 64,
		status: "OPEN",
		priority: "MEDIUM",
	},
	{
		description: "Keep the evidence of access reviews with the review",
		source: "Surveillance audit",
		owner: "omar",
		target: -48,
		status: "CLOSED",
		priority: "MEDIUM",
	},
	{
		description: "Hand out devices only after the first report passes",
		source: "Nonconformity on disk encryption",
		owner: "jan",
		target: 14,
		status: "OPEN",
		priority: "HIGH",
	},
];
