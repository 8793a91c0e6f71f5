import type { DocumentTemplate } from "../../starters/document-template-names.ts";
import type { Employee } from "./people.ts";

export interface DemoDocument {
	key: string;
	title: string;
	document_type: "ISMS" | "POLICY" | "PROCEDURE";
	classification: "PUBLIC" | "INTERNAL" | "CONFIDENTIAL";
	description: string;
	owner: Employee;
	/** The administrator approves if there is an approver. */
	approver?: Employee;
	template: DocumentTemplate;
	/** Days ago on which each version was published, with what is new in it. The first comes first. */
	published: readonly (readonly [daysAgo: number, changelog: string | null])[];
	/** What happens with a version after the published ones. */
	open?: "DRAFT" | "PENDING_APPROVAL";
	/** Who is asked to sign the last published version, and has signed it. */
	asked?: readonly Employee[];
	signed?: readonly ("admin" | "member")[];
	/** Keys of the measures that it describes. */
	measures: readonly string[];
	/** Numbers of the controls that ask for it. */
	controls: readonly string[];
}

export const DOCUMENTS: readonly DemoDocument[] = [
	{
		key: "security",
		title: "Information security policy",
		document_type: "POLICY",
		classification: "INTERNAL",
		description: "What everybody owes to the information of our hotels.",
		owner: "jonas",
		approver: "jonas",
		template: "information-security",
		published: [
			[205, null],
			[61, "The yearly review: objectives for this year, and no other change."],
		],
		asked: ["jonas", "omar", "mei", "priya", "lucia", "tomas"],
		signed: ["admin", "member"],
		measures: ["policies"],
		controls: ["5.1", "5.2"],
	},
	{
		key: "acceptable",
		title: "Acceptable use of devices",
		document_type: "POLICY",
		classification: "INTERNAL",
		description: "How we use laptops, phones and accounts.",
		owner: "omar",
		approver: "jonas",
		template: "acceptable-use",
		published: [[44, null]],
		asked: ["jonas", "omar", "hannah", "samuel", "noah", "ines"],
		signed: ["member"],
		measures: ["policies", "encryption", "screenlock"],
		controls: ["5.10"],
	},
	{
		key: "access",
		title: "Access control policy",
		document_type: "POLICY",
		classification: "INTERNAL",
		description: "Who gets access to what, and when it ends.",
		owner: "omar",
		approver: "jonas",
		template: "access-control",
		published: [[170, null]],
		open: "PENDING_APPROVAL",
		measures: ["accessreview", "leavers", "sso"],
		controls: ["5.15"],
	},
	{
		key: "incidents",
		title: "Incident response",
		document_type: "PROCEDURE",
		classification: "CONFIDENTIAL",
		description: "Who does what when something happens.",
		owner: "mei",
		template: "incident-response",
		published: [[150, null]],
		measures: ["incident"],
		controls: ["5.24"],
	},
	{
		key: "backup",
		title: "Backup and restore",
		document_type: "PROCEDURE",
		classification: "INTERNAL",
		description: "What is kept where, and how a restore is tried.",
		owner: "mei",
		template: "backup",
		published: [[98, null]],
		measures: ["restore", "offsite"],
		controls: ["8.13"],
	},
	{
		key: "remote",
		title: "Remote work",
		document_type: "POLICY",
		classification: "INTERNAL",
		description: "Work at home and on the way.",
		owner: "priya",
		template: "remote-work",
		published: [],
		open: "DRAFT",
		measures: [],
		controls: [],
	},
];

/** What stands in the brackets of the templates. Other brackets keep their words. */
export const IN_BRACKETS: Readonly<Record<string, string>> = {
	name: "Jonas Lindqvist",
	"security officer": "head of security",
	contact: "security@example.com",
	"contact, telephone, chat channel": "security@example.com",
};

export interface DemoEvidence {
	name: string;
	description: string;
	url: string | null;
	owner: Employee;
	daysAgo: number;
	/** Day on which it counts for the last time, from today. */
	validUntil: number | null;
	measures: readonly string[];
}

export const EVIDENCE: readonly DemoEvidence[] = [
	{
		name: "Report of the penetration test",
		description:
			"Two findings of medium severity, both repaired and tested again.",
		url: "https://files.example.com/security/penetration-test.pdf",
		owner: "jonas",
		daysAgo: 83,
		validUntil: 282,
		measures: ["pentest"],
	},
	{
		name: "Record of the restore test",
		description:
			"The bookings of one day were restored into an empty database in 47 minutes. The sums of all invoices matched.",
		url: null,
		owner: "mei",
		daysAgo: 26,
		validUntil: 64,
		measures: ["restore"],
	},
	{
		name: "Review of access rights",
		description:
			"All roles in the cloud account and the identity provider. Four rights were taken away.",
		url: "https://files.example.com/security/access-review.csv",
		owner: "omar",
		daysAgo: 19,
		validUntil: 72,
		measures: ["accessreview"],
	},
	{
		name: "List of who took the security training",
		description: "24 of 25 people. Nora Eriksen joined after it.",
		url: "https://files.example.com/people/security-training.csv",
		owner: "priya",
		daysAgo: 112,
		validUntil: 9,
		measures: ["training"],
	},
	{
		name: "Minutes of the incident exercise",
		description:
			"We played the loss of the payment provider for two hours. Three tasks came out of it.",
		url: null,
		owner: "mei",
		daysAgo: 57,
		validUntil: null,
		measures: ["incident", "continuity"],
	},
];
