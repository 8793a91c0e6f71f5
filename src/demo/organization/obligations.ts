import type { Employee } from "./people.ts";

/** Days are counted from today. Negative numbers are in the past. */

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
