import type { CheckKey } from "../../devices/terms.ts";
import type { Employee } from "./people.ts";

export interface DemoMeasure {
	key: string;
	name: string;
	category: string;
	description: string;
	state: "NOT_STARTED" | "IN_PROGRESS" | "IMPLEMENTED" | "NOT_APPLICABLE";
	owner: Employee;
	/** The device check that verifies it, and the share of devices that must pass. */
	verified_by_check?: CheckKey;
	verified_by_percent?: number;
	/**
	 * Numbers of the controls that the measure meets. Numbers of the framework for processors begin
	 * with P.
	 */
	controls: readonly string[];
}

export const MEASURES: readonly DemoMeasure[] = [
	{
		key: "policies",
		name: "Security policies, approved each year",
		category: "Governance",
		description:
			"Eleven short policies in the handbook. The management approves them every January, and everybody confirms the changes.",
		state: "IMPLEMENTED",
		owner: "jonas",
		controls: ["5.1", "5.2", "5.4"],
	},
	{
		key: "encryption",
		name: "Full-disk encryption on every device",
		category: "Endpoint",
		description:
			"FileVault, BitLocker or LUKS with the recovery key in escrow. Device posture reports show each day where it is missing.",
		state: "IMPLEMENTED",
		verified_by_check: "DISK_ENCRYPTION",
		verified_by_percent: 95,
		owner: "omar",
		controls: ["7.9", "8.1", "8.24"],
	},
	{
		key: "screenlock",
		name: "Screens lock after five minutes",
		category: "Endpoint",
		description:
			"Set by configuration profile on managed devices and checked by the device agent. Front-desk computers lock after two minutes.",
		state: "IMPLEMENTED",
		verified_by_check: "SCREEN_LOCK",
		verified_by_percent: 90,
		owner: "omar",
		controls: ["7.7", "8.1"],
	},
	{
		key: "posture",
		name: "Device posture is watched",
		category: "Endpoint",
		description:
			"Every laptop, front-desk computer and server reports its security settings. What fails for more than a week becomes a task of the device's owner.",
		state: "IMPLEMENTED",
		owner: "jonas",
		controls: ["5.9", "8.1", "8.7", "8.9"],
	},
	{
		key: "malware",
		name: "Malware protection on all clients",
		category: "Endpoint",
		description:
			"Built-in protection of the operating system is switched on and current; mail attachments are opened in a sandbox before they are delivered.",
		state: "IMPLEMENTED",
		verified_by_check: "MALWARE_PROTECTION",
		verified_by_percent: 75,
		owner: "omar",
		controls: ["8.7"],
	},
	{
		key: "patching",
		name: "Security updates within 14 days",
		category: "Endpoint",
		description:
			"Clients install updates by themselves. Servers are rebuilt from a fresh image every week, and urgent updates are rolled out within two days.",
		state: "IN_PROGRESS",
		verified_by_check: "AUTO_UPDATE",
		verified_by_percent: 75,
		owner: "mei",
		controls: ["8.8", "8.19"],
	},
	{
		key: "frontdesk",
		name: "Locked-down image for front-desk computers",
		category: "Endpoint",
		description:
			"One image with a browser, the lock driver and nothing else. A third of the computers has been replaced so far.",
		state: "IN_PROGRESS",
		owner: "jan",
		controls: ["7.8", "8.9", "8.19"],
	},
	{
		key: "hardwarekeys",
		name: "Hardware keys for administrators",
		category: "Access",
		description:
			"Administrators of the cloud account, the directory and the code hosting sign in with a hardware key. Ten of fourteen have theirs.",
		state: "IN_PROGRESS",
		owner: "jonas",
		controls: ["5.17", "8.2", "8.5"],
	},
	{
		key: "sso",
		name: "Single sign-on with a second factor",
		category: "Access",
		description:
			"All applications with customer data sign in through the identity provider, which asks for a second factor on each new device.",
		state: "IMPLEMENTED",
		owner: "omar",
		controls: ["5.15", "5.16", "5.17", "8.5"],
	},
	{
		key: "accessreview",
		name: "Access review every quarter",
		category: "Access",
		description:
			"Owners of applications go through the list of users and confirm or remove each. The result is kept with the task.",
		state: "IMPLEMENTED",
		owner: "omar",
		controls: ["5.18", "8.2", "8.3"],
	},
	{
		key: "leavers",
		name: "Checklist for joiners and leavers",
		category: "Access",
		description:
			"The people team opens it; accounts, keys and devices are given out and taken back on the day named there.",
		state: "IMPLEMENTED",
		owner: "priya",
		controls: ["5.11", "5.16", "5.18", "6.5"],
	},
	{
		key: "supportscope",
		name: "Support sees a hotel only with a ticket",
		category: "Access",
		description:
			"The support tool opens the bookings of one hotel for the time a ticket of that hotel is open, and writes down who looked.",
		state: "IN_PROGRESS",
		owner: "elena",
		controls: ["8.3", "P.4"],
	},
	{
		key: "breakglass",
		name: "Emergency access with two people",
		category: "Access",
		description:
			"Write access to the production database is opened for an hour by a second person. Sessions are recorded.",
		state: "IMPLEMENTED",
		owner: "mei",
		controls: ["8.2", "8.18"],
	},
	{
		key: "restore",
		name: "Monthly restore test",
		category: "Availability",
		description:
			"The newest backup is restored into an empty account and compared with production by row counts and a sample of bookings.",
		state: "IMPLEMENTED",
		owner: "mei",
		controls: ["8.13", "5.30"],
	},
	{
		key: "offsite",
		name: "Encrypted copy at a second provider",
		category: "Availability",
		description:
			"Backups are copied every night to storage of another company; the keys are kept apart from both.",
		state: "IMPLEMENTED",
		owner: "marek",
		controls: ["8.13", "8.14"],
	},
	{
		key: "continuity",
		name: "Recovery plan and yearly exercise",
		category: "Availability",
		description:
			"Says who decides, who tells hotels, and how production is rebuilt in another region. The exercise of this year is planned.",
		state: "IN_PROGRESS",
		owner: "mei",
		controls: ["5.29", "5.30"],
	},
	{
		key: "edge",
		name: "Filtering and rate limits at the edge",
		category: "Network",
		description:
			"All public addresses are behind the content delivery network, which absorbs floods and slows down robots.",
		state: "IMPLEMENTED",
		owner: "marek",
		controls: ["8.20", "8.21"],
	},
	{
		key: "officenet",
		name: "Office network gives internet and nothing else",
		category: "Network",
		description:
			"There are no servers in the offices. Wired sockets and the wireless network lead to the internet only; guests have a network of their own.",
		state: "IMPLEMENTED",
		owner: "omar",
		controls: ["8.20", "8.22"],
	},
	{
		key: "capacity",
		name: "Capacity forecast before the season",
		category: "Operations",
		description:
			"Each February the load of the coming summer is estimated and tested with recorded traffic.",
		state: "IMPLEMENTED",
		owner: "marek",
		controls: ["8.6"],
	},
	{
		key: "logging",
		name: "Central logs, kept for a year",
		category: "Operations",
		description:
			"Sign-ins, changes of rights and access to guest data are sent to an account in which nobody can delete. Alerts go to the engineer on call.",
		state: "IMPLEMENTED",
		owner: "marek",
		controls: ["8.15", "8.16", "8.17"],
	},
	{
		key: "logclean",
		name: "Guest data is removed from logs",
		category: "Privacy",
		description:
			"Names, addresses and phone numbers are replaced before logs leave production; a test looks for them every night.",
		state: "IMPLEMENTED",
		owner: "samuel",
		controls: ["8.11", "8.12"],
	},
	{
		key: "incident",
		name: "Incident handling with a person on call",
		category: "Operations",
		description:
			"One channel, one lead, a written timeline, and a review within five days. Breaches of personal data are reported by the data protection officer.",
		state: "IMPLEMENTED",
		owner: "mei",
		controls: ["5.24", "5.25", "5.26", "5.27", "6.8", "P.6"],
	},
	{
		key: "review",
		name: "Four eyes on every change",
		category: "Development",
		description:
			"Nothing is merged without the review of a second engineer and green tests; changes of payment code need two.",
		state: "IMPLEMENTED",
		owner: "tomas",
		controls: ["8.25", "8.28", "8.32"],
	},
	{
		key: "secretscan",
		name: "Secret scanning on every push",
		category: "Development",
		description:
			"A push with something that looks like a key is refused. Keys that got through before were replaced.",
		state: "IMPLEMENTED",
		owner: "tomas",
		controls: ["8.4", "8.28"],
	},
	{
		key: "dependencies",
		name: "Dependencies are updated weekly",
		category: "Development",
		description:
			"A robot proposes updates, the team merges them on Tuesdays. Known holes of high severity stop a release.",
		state: "IN_PROGRESS",
		owner: "tomas",
		controls: ["8.8", "8.28"],
	},
	{
		key: "rollout",
		name: "Gradual rollout with automatic return",
		category: "Development",
		description:
			"A release goes to five in a hundred hotels first and is taken back by itself when errors rise.",
		state: "IMPLEMENTED",
		owner: "clara",
		controls: ["8.29", "8.31", "8.32"],
	},
	{
		key: "pentest",
		name: "Penetration test each year",
		category: "Development",
		description:
			"By an outside tester, on the booking pages, the hotel's side and the interfaces. Findings become tasks with a date.",
		state: "IMPLEMENTED",
		owner: "jonas",
		controls: ["5.35", "8.8", "8.29"],
	},
	{
		key: "training",
		name: "Security training for everybody",
		category: "People",
		description:
			"An hour in the first week and each spring, with examples from our own mailboxes. Simulated phishing three times a year.",
		state: "IMPLEMENTED",
		owner: "priya",
		controls: ["6.3", "5.10"],
	},
	{
		key: "contracts",
		name: "Confidentiality in every contract",
		category: "People",
		description:
			"Employees and contractors sign it before they get accounts; it stays in force after they leave.",
		state: "IMPLEMENTED",
		owner: "priya",
		controls: ["6.2", "6.6", "P.2"],
	},
	{
		key: "vendorreview",
		name: "Suppliers are reviewed each year",
		category: "Supplier",
		description:
			"Reports, certificates and incidents of every supplier with customer data are looked at. Four of eighteen are still to be done this year.",
		state: "IN_PROGRESS",
		owner: "lucia",
		controls: ["5.19", "5.20", "5.22", "5.23"],
	},
	{
		key: "dpa",
		name: "Processing agreements with suppliers",
		category: "Supplier",
		description:
			"Signed with every supplier that works with data of guests, and listed for the hotels.",
		state: "IMPLEMENTED",
		owner: "lucia",
		controls: ["5.20", "5.34", "P.3", "P.5"],
	},
	{
		key: "deletion",
		name: "Guest records are deleted on time",
		category: "Privacy",
		description:
			"Two years after departure, or earlier if the hotel says so. Production is done; exports and tickets are not.",
		state: "IN_PROGRESS",
		owner: "samuel",
		controls: ["5.33", "8.10", "P.7"],
	},
	{
		key: "privacyreview",
		name: "Privacy questions in every product brief",
		category: "Privacy",
		description:
			"Which data, for what, on what basis, how long. The data protection officer answers within three days.",
		state: "IMPLEMENTED",
		owner: "lucia",
		controls: ["5.8", "5.34", "P.1"],
	},
	{
		key: "requests",
		name: "Help for requests of guests",
		category: "Privacy",
		description:
			"Hotels export or delete the data of a guest by themselves; what they cannot do reaches the data protection officer as a ticket.",
		state: "IMPLEMENTED",
		owner: "noah",
		controls: ["P.8"],
	},
	{
		key: "foureyes",
		name: "Payments need two people",
		category: "Finance",
		description:
			"The bank asks a second person for everything above €500. Changed account numbers are confirmed by phone.",
		state: "IMPLEMENTED",
		owner: "ines",
		controls: ["5.3"],
	},
	{
		key: "lawwatch",
		name: "Changes of the law are followed",
		category: "Legal",
		description:
			"The legal counsel goes through the newsletters of four authorities each month and adds what concerns us to the obligations.",
		state: "IMPLEMENTED",
		owner: "lucia",
		controls: ["5.31", "5.5"],
	},
	{
		key: "classification",
		name: "Labels for documents",
		category: "Governance",
		description:
			"Four levels, from public to secret, shown on each document. Not begun: first the list of data has to be complete.",
		state: "NOT_STARTED",
		owner: "jonas",
		controls: ["5.12", "5.13"],
	},
];
