import { month } from "../day.ts";
import type { Employee } from "./people.ts";

/** Days are counted from today. Negative numbers are in the past. */

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
