import type { Employee } from "./people.ts";

export interface DemoRisk {
	key: string;
	name: string;
	category: string;
	description: string;
	treatment: "MITIGATED" | "ACCEPTED" | "AVOIDED" | "TRANSFERRED";
	/** Likelihood and impact, before treatment (inherent) and after treatment (residual). */
	inherent: readonly [number, number];
	residual: readonly [number, number];
	owner: Employee;
	note?: string;
	/** Keys of the measures that reduce the risk. */
	measures: readonly string[];
}

export const RISKS: readonly DemoRisk[] = [
	{
		key: "ransomware",
		name: "Ransomware on staff laptops",
		category: "Endpoint",
		description:
			"Malicious software from a mail or a website encrypts a laptop and the shared documents it can reach. Work in the team stops, and data may be published.",
		treatment: "MITIGATED",
		inherent: [4, 5],
		residual: [2, 4],
		owner: "jonas",
		measures: ["posture", "malware", "patching", "restore"],
	},
	{
		key: "stolen",
		name: "Stolen laptop holds customer data",
		category: "Endpoint",
		description:
			"A laptop is stolen on a journey or from a car. Exports and cached mail on its disk can be read unless the disk is encrypted.",
		treatment: "MITIGATED",
		inherent: [4, 4],
		residual: [3, 1],
		owner: "jonas",
		measures: ["encryption", "screenlock", "posture"],
	},
	{
		key: "phishing",
		name: "Phishing of an administrator",
		category: "Access",
		description:
			"An administrator enters the password on a false page. With it an attacker reaches production or the directory of all accounts.",
		treatment: "MITIGATED",
		inherent: [5, 5],
		residual: [2, 5],
		owner: "jonas",
		note: "Falls to 1 × 5 once the last four administrators use hardware keys.",
		measures: ["hardwarekeys", "sso", "training"],
	},
	{
		key: "leaver",
		name: "Former employee keeps access",
		category: "Access",
		description:
			"An account is forgotten when somebody leaves, most likely in a tool outside single sign-on. It may be used months later without anybody noticing.",
		treatment: "MITIGATED",
		inherent: [4, 4],
		residual: [2, 3],
		owner: "priya",
		measures: ["leavers", "sso", "accessreview"],
	},
	{
		key: "excess",
		name: "Support staff see more guest data than they need",
		category: "Access",
		description:
			"The support tool shows every booking of every hotel. A curious or bribed employee could look up guests.",
		treatment: "MITIGATED",
		inherent: [3, 4],
		residual: [2, 3],
		owner: "noah",
		measures: ["accessreview", "supportscope", "logging"],
	},
	{
		key: "restore",
		name: "Backups cannot be restored",
		category: "Availability",
		description:
			"A backup turns out to be incomplete or its key is lost on the day it is needed. Bookings of up to a day would be gone for good.",
		treatment: "MITIGATED",
		inherent: [3, 5],
		residual: [1, 5],
		owner: "mei",
		measures: ["restore", "offsite"],
	},
	{
		key: "region",
		name: "Cloud region fails for more than a day",
		category: "Availability",
		description:
			"All of production runs in one region. When it is down hotels can neither take bookings nor check guests in.",
		treatment: "ACCEPTED",
		inherent: [2, 5],
		residual: [2, 5],
		owner: "ada",
		note: "A second region would cost more than the expected loss. Accepted by the management until the next yearly review; the recovery plan covers a move within 24 hours.",
		measures: ["continuity"],
	},
	{
		key: "ddos",
		name: "Booking pages are flooded with requests",
		category: "Availability",
		description:
			"An attack or an overeager price comparison keeps guests from booking during the high season.",
		treatment: "MITIGATED",
		inherent: [4, 3],
		residual: [3, 2],
		owner: "mei",
		measures: ["edge"],
	},
	{
		key: "capacity",
		name: "Database reaches its limits in the high season",
		category: "Availability",
		description:
			"Load grows by a third every summer. Without a forecast the primary database slows down on the busiest weekends.",
		treatment: "MITIGATED",
		inherent: [3, 3],
		residual: [2, 2],
		owner: "marek",
		measures: ["capacity"],
	},
	{
		key: "secrets",
		name: "Secrets committed to a repository",
		category: "Development",
		description:
			"A key of the cloud account or the payment provider is pushed by mistake. Robots find such keys within minutes.",
		treatment: "MITIGATED",
		inherent: [4, 4],
		residual: [2, 3],
		owner: "tomas",
		measures: ["secretscan", "review"],
	},
	{
		key: "dependency",
		name: "Vulnerable dependency reaches production",
		category: "Development",
		description:
			"A library with a known hole, or one that was taken over, is released with the service and exploited before it is noticed.",
		treatment: "MITIGATED",
		inherent: [5, 4],
		residual: [3, 3],
		owner: "tomas",
		measures: ["patching", "dependencies", "review"],
	},
	{
		key: "tenant",
		name: "One hotel sees the bookings of another",
		category: "Development",
		description:
			"A query without the hotel's filter gives out the guests of other hotels. It would be a breach that has to be reported.",
		treatment: "MITIGATED",
		inherent: [3, 5],
		residual: [1, 5],
		owner: "tomas",
		measures: ["review", "pentest"],
	},
	{
		key: "release",
		name: "Faulty release stops check-in",
		category: "Development",
		description:
			"A change that passed the tests fails under real load and hotels cannot check guests in for hours.",
		treatment: "MITIGATED",
		inherent: [4, 3],
		residual: [2, 2],
		owner: "clara",
		measures: ["review", "rollout"],
	},
	{
		key: "processor",
		name: "Payment provider stops service",
		category: "Supplier",
		description:
			"The provider closes the account or fails for days. Hotels receive no money for new bookings.",
		treatment: "TRANSFERRED",
		inherent: [2, 5],
		residual: [2, 3],
		owner: "ines",
		note: "The contract grants 90 days' notice, and the insurance covers a failure of more than 48 hours.",
		measures: ["vendorreview"],
	},
	{
		key: "vendorbreach",
		name: "Breach at a supplier exposes guest data",
		category: "Supplier",
		description:
			"Tickets, logs or reports kept by a supplier are stolen there. We answer to the hotels for it.",
		treatment: "MITIGATED",
		inherent: [3, 4],
		residual: [2, 3],
		owner: "lucia",
		measures: ["vendorreview", "dpa", "logclean"],
	},
	{
		key: "retention",
		name: "Personal data kept too long",
		category: "Privacy",
		description:
			"Guest records stay in backups, exports and tickets after the period promised to hotels and guests.",
		treatment: "MITIGATED",
		inherent: [4, 3],
		residual: [3, 3],
		owner: "lucia",
		measures: ["deletion"],
	},
	{
		key: "basis",
		name: "Guest data used without a legal basis",
		category: "Privacy",
		description:
			"A new feature, such as personal offers, uses data that guests gave for another purpose.",
		treatment: "AVOIDED",
		inherent: [3, 4],
		residual: [1, 4],
		owner: "lucia",
		note: "Features of this kind are not built; each product brief answers the question before work begins.",
		measures: ["privacyreview"],
	},
	{
		key: "requests",
		name: "Requests of guests are answered too late",
		category: "Privacy",
		description:
			"A guest asks a hotel for a copy of the data and the request reaches us after the month has nearly passed.",
		treatment: "MITIGATED",
		inherent: [3, 2],
		residual: [2, 2],
		owner: "lucia",
		measures: ["requests"],
	},
	{
		key: "keyperson",
		name: "Only one person knows the payment integration",
		category: "People",
		description:
			"Most of the payment code was written by one engineer. An absence of weeks would stop changes and slow the handling of incidents.",
		treatment: "ACCEPTED",
		inherent: [3, 3],
		residual: [3, 3],
		owner: "ada",
		note: "A second engineer is being trained; to be looked at again at the end of the quarter.",
		measures: [],
	},
	{
		key: "office",
		name: "Visitor reaches the office network",
		category: "Physical",
		description:
			"The office in Rotterdam is shared with other companies. A visitor could plug a computer into a free socket.",
		treatment: "MITIGATED",
		inherent: [3, 3],
		residual: [2, 1],
		owner: "omar",
		measures: ["officenet"],
	},
	{
		key: "frontdesk",
		name: "Front-desk computers are shared by many hands",
		category: "Endpoint",
		description:
			"Computers that we lend to hotels stand at reception desks and are used by temporary staff. An unlocked screen shows arrivals with names and phone numbers.",
		treatment: "MITIGATED",
		inherent: [4, 3],
		residual: [3, 2],
		owner: "jan",
		measures: ["screenlock", "posture", "frontdesk"],
	},
	{
		key: "invoice",
		name: "False invoice is paid",
		category: "Finance",
		description:
			"A forged mail in the name of a supplier or of the chief executive asks for an urgent payment.",
		treatment: "MITIGATED",
		inherent: [3, 3],
		residual: [1, 3],
		owner: "ines",
		measures: ["foureyes", "training"],
	},
	{
		key: "law",
		name: "New rules for accommodation data are missed",
		category: "Legal",
		description:
			"Cities and countries change what hotels must report about guests. A missed date means fines for our customers and lost contracts for us.",
		treatment: "MITIGATED",
		inherent: [3, 3],
		residual: [2, 3],
		owner: "lucia",
		measures: ["lawwatch"],
	},
	{
		key: "insider",
		name: "Changes to production without a trace",
		category: "Operations",
		description:
			"An engineer changes data by hand during an incident and nobody can say later what was changed and why.",
		treatment: "MITIGATED",
		inherent: [3, 4],
		residual: [2, 2],
		owner: "mei",
		measures: ["logging", "breakglass"],
	},
];
