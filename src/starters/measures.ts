import type { StarterMeasure } from "./shape.ts";

/** The measures of all starter sets. A measure can help with several frameworks. */
export const STARTER_MEASURES: readonly StarterMeasure[] = [
	...area("Governance", [
		[
			"policies",
			"Security policies are approved and known",
			"Write short policies, let the management approve them each year, and have everybody confirm that they have read them.",
		],
		[
			"roles",
			"Security has an owner",
			"Name the person who is responsible for security, and who decides when that person is away.",
		],
		[
			"risk-review",
			"Risks are reviewed every quarter",
			"Go through the risk register with the management: what is new, what has changed, what is done next.",
		],
		[
			"internal-audit",
			"Somebody independent reviews security each year",
			"Let a person who does not run the controls check whether they work, and follow up what they find.",
		],
		[
			"legal-register",
			"Legal and contractual duties are listed",
			"Keep a list of the laws and contracts that concern security and privacy, with an owner and a review date for each.",
		],
	]),
	...area("People", [
		[
			"training",
			"Everybody is trained in security",
			"Train people when they join and once a year: phishing, passwords, devices, and how to report what looks wrong.",
		],
		[
			"joiners-leavers",
			"Joining and leaving follow a checklist",
			"The checklist covers background checks where they are allowed, confidentiality, accounts, devices, and their return.",
		],
	]),
	...area("Access", [
		[
			"mfa",
			"Sign-in needs a second factor",
			"Require a second factor for e-mail, the identity provider, cloud consoles and remote access.",
		],
		[
			"least-privilege",
			"Access is granted by role and only as needed",
			"Somebody other than the user approves access. Administrators use separate accounts for administration.",
		],
		[
			"access-review",
			"Access rights are reviewed every quarter",
			"The owner of each system looks through the list of its users, and removes what is no longer needed.",
		],
		[
			"password-manager",
			"A password manager is provided",
			"Everybody has one. Shared secrets and keys are kept in a vault with named owners, not in files or chats.",
		],
	]),
	...area("Devices", [
		[
			"device-baseline",
			"Devices meet a baseline that is checked",
			"Disks are encrypted, screens lock, firewalls are on and systems update. The device agent reports it each hour.",
		],
		[
			"malware-protection",
			"Devices are protected against malware",
			"Malware protection runs on every device that needs it. Alerts reach somebody who acts on them.",
		],
		[
			"asset-list",
			"Assets and data have owners",
			"Keep a register of devices, systems and data, with an owner and a classification for each.",
		],
		[
			"disposal",
			"Equipment is wiped before it leaves",
			"Erase or destroy storage before equipment is sold, returned or thrown away, and keep a record.",
		],
	]),
	...area("Operations", [
		[
			"patching",
			"Vulnerabilities are found and fixed in time",
			"Scan systems and dependencies. Fix critical vulnerabilities within 14 days and others within 60.",
		],
		[
			"backups",
			"Backups are made and restored in tests",
			"Back up important data each day to a separate account, and test a restore every quarter.",
		],
		[
			"logging",
			"Events are logged and watched",
			"Keep logs of sign-ins, changes and errors for a year, protect them from change, and alert on what is unusual.",
		],
		[
			"change-control",
			"Changes are reviewed and tested",
			"A second person reviews each change before it reaches production, and a change can be rolled back.",
		],
		[
			"secure-development",
			"Software is developed securely",
			"Consider threats in the design, check code and dependencies automatically, and keep test and production separate.",
		],
		[
			"network-security",
			"Networks are separated and protected",
			"Only what must be public is reachable from the internet. Traffic is encrypted, and production is separate.",
		],
		[
			"encryption",
			"Data is encrypted at rest and in transit",
			"Use current algorithms, and say who creates, keeps and replaces the keys.",
		],
	]),
	...area("Resilience", [
		[
			"incident-response",
			"Incidents are handled by a plan",
			"The plan says who decides, who is told and how fast. Exercise it once a year and learn from each incident.",
		],
		[
			"continuity",
			"The business can continue through disruption",
			"Say how long each service may be away, plan how it comes back, and test the plan once a year.",
		],
	]),
	...area("Suppliers and data", [
		[
			"vendor-review",
			"Vendors are assessed before use and each year",
			"Check the security of vendors that reach important data, and agree on security and data protection in contracts.",
		],
		[
			"records-of-processing",
			"Processing of personal data is recorded",
			"Record which personal data is processed, why, on which legal basis, where it goes and when it is deleted.",
		],
		[
			"privacy-requests",
			"Requests of data subjects are answered in time",
			"Say who receives requests for access, correction and deletion, and answer within a month.",
		],
		[
			"retention",
			"Data is deleted when it is no longer needed",
			"Set a retention period for each kind of data, and delete it in systems and backups when the period ends.",
		],
		[
			"premises",
			"Offices and server rooms are protected",
			"Doors are locked, visitors are accompanied, and equipment is safe from theft, fire and water.",
		],
	]),
];

function area(
	category: string,
	rows: readonly (readonly [key: string, name: string, description: string])[],
): StarterMeasure[] {
	return rows.map(([key, name, description]) => ({
		key,
		name,
		category,
		description,
	}));
}
