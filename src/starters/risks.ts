import type { StarterRisk } from "./shape.ts";

/** Risks that nearly every organization has. */
export const STARTER_RISKS: readonly StarterRisk[] = [
	{
		key: "stolen-device",
		name: "A laptop with company data is lost or stolen",
		category: "Devices",
		description:
			"Whoever finds the device reads its data or uses its accounts.",
		inherent: [4, 4],
		measures: ["device-baseline", "asset-list"],
	},
	{
		key: "phishing",
		name: "Somebody gives their password to an attacker",
		category: "Access",
		description:
			"A convincing mail or page leads an employee to sign in there.",
		inherent: [5, 4],
		measures: ["mfa", "training", "password-manager"],
	},
	{
		key: "ransomware",
		name: "Malware encrypts data and stops the business",
		category: "Devices",
		description:
			"Malware spreads from one device, and the backups are hit too.",
		inherent: [3, 5],
		measures: ["malware-protection", "backups", "patching", "network-security"],
	},
	{
		key: "leaver-access",
		name: "A former employee still has access",
		category: "Access",
		description: "Accounts or keys are forgotten when somebody leaves.",
		inherent: [3, 4],
		measures: ["joiners-leavers", "access-review"],
	},
	{
		key: "excess-access",
		name: "People reach more data than they need",
		category: "Access",
		description: "Access is added over the years and never removed.",
		inherent: [4, 3],
		measures: ["least-privilege", "access-review"],
	},
	{
		key: "unpatched",
		name: "A known vulnerability is exploited",
		category: "Operations",
		description: "A system or a dependency is not updated in time.",
		inherent: [4, 4],
		measures: ["patching", "secure-development"],
	},
	{
		key: "misconfiguration",
		name: "A wrong setting makes data public",
		category: "Operations",
		description: "Storage, a database or a service is opened to the internet.",
		inherent: [3, 5],
		measures: ["change-control", "network-security", "logging"],
	},
	{
		key: "data-loss",
		name: "Data is lost and cannot be restored",
		category: "Resilience",
		description: "A mistake or a failure deletes data, and no backup works.",
		inherent: [3, 5],
		measures: ["backups", "continuity"],
	},
	{
		key: "outage",
		name: "An important service is away for days",
		category: "Resilience",
		description: "A provider, a region or a network fails.",
		inherent: [3, 4],
		measures: ["continuity", "vendor-review"],
	},
	{
		key: "vendor-breach",
		name: "A vendor loses our data",
		category: "Suppliers",
		description:
			"An attack on a vendor exposes the data that it processes for us.",
		inherent: [3, 4],
		measures: ["vendor-review", "incident-response"],
	},
	{
		key: "late-discovery",
		name: "An attack is noticed late or handled badly",
		category: "Operations",
		description: "Nobody watches the logs, or nobody knows who decides.",
		inherent: [3, 4],
		measures: ["logging", "incident-response"],
	},
	{
		key: "privacy-breach",
		name: "Personal data is used or kept against the law",
		category: "Legal",
		description:
			"There is no legal basis, or data is kept longer than allowed.",
		inherent: [3, 4],
		measures: ["records-of-processing", "retention", "privacy-requests"],
	},
	{
		key: "missed-duty",
		name: "A legal or contractual duty is missed",
		category: "Legal",
		description: "A new law or a promise in a contract goes unnoticed.",
		inherent: [3, 3],
		measures: ["legal-register", "roles"],
	},
	{
		key: "key-person",
		name: "Only one person knows how something works",
		category: "People",
		description: "That person is ill or leaves, and nobody can step in.",
		inherent: [4, 3],
		measures: ["roles", "continuity"],
	},
];
