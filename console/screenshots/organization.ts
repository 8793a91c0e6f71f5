/**
 * A realistic organization for the screenshots, as the input of operations. Days count from today.
 */

export const NAME = "Harbour & Pine";

export const people = [
	["Ada Okafor", "Chief technology officer"],
	["Jonas Lindqvist", "Security lead"],
	["Mei Tanaka", "Site reliability engineer"],
	["Priya Raman", "Head of people"],
	["Tomás Rivera", "Backend engineer"],
	["Hannah Weiss", "Product designer"],
	["Samuel Osei", "Data engineer"],
	["Lucía Ferrer", "Legal counsel"],
	["Noah Becker", "Support lead"],
	["Ines Moreau", "Finance manager"],
] as const;

/**
 * Each row has the name, category, treatment, likelihood and impact before and after treatment, and
 * owner.
 */
export const risks = [
	["Ransomware on staff laptops", "Endpoint", "MITIGATED", 4, 5, 2, 4, 1],
	["Stolen laptop holds customer data", "Endpoint", "MITIGATED", 4, 4, 3, 1, 1],
	["Backups cannot be restored", "Availability", "MITIGATED", 3, 5, 2, 5, 2],
	[
		"Cloud region fails for more than a day",
		"Availability",
		"ACCEPTED",
		2,
		5,
		2,
		5,
		2,
	],
	["Former employee keeps access", "Access", "MITIGATED", 4, 4, 2, 3, 3],
	["Phishing of an administrator", "Access", "MITIGATED", 5, 5, 3, 5, 1],
	[
		"Secrets committed to a repository",
		"Development",
		"MITIGATED",
		4,
		4,
		2,
		4,
		4,
	],
	[
		"Vulnerable dependency reaches production",
		"Development",
		"MITIGATED",
		5,
		4,
		3,
		3,
		4,
	],
	["Payment processor stops service", "Supplier", "TRANSFERRED", 2, 4, 2, 2, 9],
	["Personal data kept too long", "Privacy", "MITIGATED", 4, 3, 2, 3, 7],
	["Processing without a legal basis", "Privacy", "AVOIDED", 3, 4, 1, 4, 7],
	["Key engineer leaves", "People", "ACCEPTED", 3, 3, 3, 3, 0],
	["Office network is tapped", "Network", "MITIGATED", 2, 3, 1, 3, 2],
	["Wrong invoice is paid", "Finance", "MITIGATED", 3, 2, 2, 2, 9],
] as const;

export const measures = [
	["Full-disk encryption on every laptop", "Endpoint", "IMPLEMENTED", 1],
	["Hardware keys for administrators", "Access", "IN_PROGRESS", 1],
	["Monthly restore test", "Availability", "IMPLEMENTED", 2],
	["Leavers' checklist", "Access", "IMPLEMENTED", 3],
	["Dependency updates within seven days", "Development", "IN_PROGRESS", 4],
	["Secret scanning on every push", "Development", "IMPLEMENTED", 4],
	["Deletion of inactive accounts", "Privacy", "NOT_STARTED", 7],
	["Security training each year", "People", "IMPLEMENTED", 3],
] as const;

export const framework = {
	name: "Information security baseline",
	version: "2026",
	description:
		"What we hold ourselves to, in our own words; mapped to what customers ask for.",
};

/** Each row has the section, the name, and the measures that meet the control. */
export const controls = [
	["Access", "Access is granted by role and reviewed", [3]],
	["Access", "Administrators use a second factor", [1]],
	["Access", "Leavers lose access on their last day", [3]],
	["Devices", "Disks of devices are encrypted", [0]],
	["Devices", "Devices lock themselves", []],
	["Devices", "Operating systems get security fixes", []],
	["Operations", "Backups are made and tested", [2]],
	["Operations", "Events are logged and kept", []],
	["Development", "Changes are reviewed before release", []],
	["Development", "Dependencies are kept current", [4, 5]],
	["People", "Everybody is trained each year", [7]],
] as const;

export const vendors = [
	["Nimbus Cloud", "CLOUD_PROVIDER", ["DE", "IE"]],
	["Paperplane Mail", "COLLABORATION", ["NL"]],
	["Gitforge", "VERSION_CONTROL", ["FR"]],
	["Ledgerly", "FINANCE", ["DE"]],
	["Helpdesk One", "CUSTOMER_SUPPORT", ["ES"]],
] as const;

/** Each row has the description, severity, status, owner, and days until the record is due. */
export const nonconformities = [
	[
		"Three laptops without disk encryption for over a month",
		"MAJOR",
		"IN_PROGRESS",
		1,
		-4,
	],
	["Access review of the second quarter was not done", "MINOR", "OPEN", 3, 9],
	["Restore test failed on the archive", "MAJOR", "OPEN", 2, 12],
	[
		"Contract of a supplier lacks a processing agreement",
		"MINOR",
		"CLOSED",
		7,
		-30,
	],
] as const;

export const obligations = [
	[
		"Report personal data breaches within 72 hours",
		"GDPR, article 33",
		"LEGAL",
		"COMPLIANT",
		7,
		60,
	],
	[
		"Keep a record of processing activities",
		"GDPR, article 30",
		"LEGAL",
		"PARTIALLY_COMPLIANT",
		7,
		10,
	],
	[
		"Yearly penetration test for key customers",
		"Framework agreement",
		"CONTRACTUAL",
		"NON_COMPLIANT",
		1,
		-11,
	],
	["Keep invoices for ten years", "Tax code", "LEGAL", "COMPLIANT", 9, 200],
] as const;

export const tasks = [
	["Enroll the new laptops", "HIGH", "IN_PROGRESS", 2, 2],
	["Rotate the deployment keys", "URGENT", "TODO", 4, -1],
	["Write the retention schedule", "MEDIUM", "TODO", 7, 13],
	["Order hardware keys", "HIGH", "DONE", 1, -8],
	["Ask Helpdesk One for its audit report", "LOW", "TODO", 8, 40],
] as const;

export const improvements = [
	["One sign-on for all suppliers", "MEDIUM", "OPEN", 1, 45],
	["Alert when a device falls silent", "HIGH", "IN_PROGRESS", 2, 6],
] as const;

/** Platforms and versions, which are assigned to the devices in turn. */
export const systems = [
	["DARWIN", "macOS 26.1"],
	["LINUX", "Ubuntu 26.04"],
	["WINDOWS", "Windows 11 25H2"],
	["DARWIN", "macOS 15.7"],
] as const;
