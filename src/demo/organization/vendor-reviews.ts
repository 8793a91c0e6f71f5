/** A review of a vendor: its key, days ago, outcome, rating, days until the next one, and what was found. */
export type DemoReview = readonly [
	vendor: string,
	daysAgo: number,
	outcome: "APPROVED" | "APPROVED_WITH_CONDITIONS" | "REJECTED",
	risk_rating: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL",
	nextInDays: number,
	note: string,
];

export const VENDOR_REVIEWS: readonly DemoReview[] = [
	[
		"stripe",
		97,
		"APPROVED",
		"HIGH",
		268,
		"Read the attestation of compliance with PCI DSS. Card numbers never reach our servers.",
	],
	[
		"aws",
		84,
		"APPROVED",
		"HIGH",
		11,
		"Read the SOC 2 report of this year. The exceptions in it do not concern services that we use.",
	],
	[
		"zendesk",
		75,
		"APPROVED_WITH_CONDITIONS",
		"MEDIUM",
		-6,
		"Guests write passport numbers into tickets. Approved until the filter that removes them is in place.",
	],
	[
		"plausible",
		61,
		"APPROVED",
		"LOW",
		304,
		"Counts visits without cookies and stores no addresses.",
	],
	[
		"hubspot",
		33,
		"APPROVED_WITH_CONDITIONS",
		"MEDIUM",
		60,
		"The list of subprocessors names two companies without an agreement. They promised one within the quarter.",
	],
];
