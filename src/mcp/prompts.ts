import {
	ProtocolError,
	ProtocolErrorCode,
	type Server,
} from "@modelcontextprotocol/server";
import { mayAnywhere } from "../invoke.ts";
import { dueDates } from "../records/due-dates.ts";
import type { Caller, ToolServices } from "./methods.ts";

interface Prompt {
	name: string;
	title: string;
	description: string;
	/** The values that a person gives when choosing the prompt. */
	arguments: { name: string; description: string; required: boolean }[];
	/** The task for the model. It names the tools to call. */
	text: (given: Record<string, string>) => string;
}

const REPORT =
	"Report in plain sentences with names, dates and record ids. Say what you could not find out.";
const ASK_BEFORE_WRITING =
	"Show the person every record before you add or change it, and wait for a yes.";

/** Returns a sentence about an optional argument, or nothing. */
const about = (text: string | undefined, sentence: (text: string) => string) =>
	text ? `${sentence(JSON.stringify(text))}\n` : "";

/** The calls that list the records behind each number in `reminders` of getOverview. */
const REMINDER_LISTS = dueDates
	.filter(({ isWork }) => !isWork)
	.map(({ kind, date, only }) => {
		const filter = only ? `${only.field} ${only.value} and ` : "";
		return `list${kind.tool.many} with ${filter}${date}_until`;
	})
	.join("; ");

export const PROMPTS: readonly Prompt[] = [
	{
		name: "weekly_review",
		title: "Weekly review",
		description: "Review what is overdue, what fails and what changed.",
		arguments: [],
		text: () => `Prepare the weekly compliance review.

1. listOrganizations lists the organizations and today's date. If there are several, ask the person which one to review.
2. getOverview counts open, overdue and soon due work, and in reminders the reviews, notices and expiries that are overdue or soon due. It names the checks that have failed longest and the records changed last.
3. For each register with overdue work, list it: listTasks, listNonconformities, listObligations and listContinualImprovements with filter is_open and due_until yesterday.
4. For each of the reminders with overdue records, list these too, each with yesterday as the date: ${REMINDER_LISTS}.
5. listPostureSummary shows how many devices pass each check. Compare it with the same summary as_of seven days ago. For a check that got worse, listDevices with status ACTIVE and failing_check names the devices and their owners.

Group the result by the person who has to act. ${REPORT}
Then ask the person which tasks to add or whom to remind. ${ASK_BEFORE_WRITING}`,
	},
	{
		name: "audit_preparation",
		title: "Audit preparation",
		description: "Find the gaps in a framework before an audit.",
		arguments: [
			{
				name: "framework",
				description: "Name of the framework, such as ISO 27001",
				required: false,
			},
		],
		text: ({ framework }) => `Prepare an audit against a framework.
${about(framework, (name) => `The framework is ${name}.`)}
1. Find the framework with listFrameworks. If it is not clear which one, ask the person. Ask for the date and scope of the audit too; listAudits has the planned ones.
2. getFrameworkCoverage shows each control with its measures. List the controls that apply and are not covered, or only partly, and listControls with status EXCLUDED and detail full for the justifications.
3. listMeasures with state NOT_STARTED and IN_PROGRESS, listNonconformities with is_open, and listTasks with is_open show the work that is left. listRisks with without_linked "measure" shows risks that nothing reduces.
4. listPostureSummary shows the state of the devices, now or as_of a past day.

Put the gaps first that an auditor would criticize most. ${REPORT}
For each gap, ask who will close it and by when. Offer to add tasks. ${ASK_BEFORE_WRITING}`,
	},
	{
		name: "access_review",
		title: "Access review",
		description: "Review who has access, and what leavers still own.",
		arguments: [],
		text: () => `Review access.

1. listMembers lists who may sign in, with roles and second factors. Question members with the role admin and members without a second factor.
2. listPeople with filter contract_end_date_until today lists people whose contract has ended. Compare names and addresses with the members.
3. For each person who left, getRecordUses counts what the person still owns, and listDevices with owner_id lists the devices.
4. listDevices with owner_id null lists devices without an owner.

${REPORT}
For each doubtful member, ask the person whether the access is still needed. Ask who takes over what a leaver owns. Do not change members yourself unless the person says so for each one.`,
	},
	{
		name: "vendor_review",
		title: "Vendor review",
		description: "Review a vendor, or all of them: reviews, agreements, data.",
		arguments: [
			{
				name: "vendor",
				description: "Name of the vendor. Without it, all vendors are reviewed",
				required: false,
			},
		],
		text: ({ vendor }) => `Review vendors.
${about(vendor, (name) => `Review only the vendor ${name}.`)}
1. listVendors with detail full shows purpose, owner, risk rating, last and next review, agreement about data processing, certifications and countries. With filter empty "last_review_date" it lists the vendors that were never reviewed, and with next_review_date_until yesterday those whose review is overdue.
2. listData and listAssets with detail full name the vendors that process or host them. Data that is SECRET or CONFIDENTIAL matters most.
3. listLinkedRecords shows the risks, measures and obligations of a vendor.

Name vendors that were never reviewed or whose review is overdue, the most critical first. A vendor that was never reviewed is often NOT_RATED: judge by its purpose and data how critical it is, and say that this is your judgment. Name vendors without an owner, without an agreement although they process personal data, or in countries that need more safeguards. An empty dpa_url does not prove that there is no agreement: ask the person. ${REPORT}
Offer to update the vendors with what the person answers. ${ASK_BEFORE_WRITING}`,
	},
	{
		name: "incident_to_nonconformity",
		title: "Incident to nonconformity",
		description:
			"Record an incident as a nonconformity, with its cause, correction and tasks.",
		arguments: [
			{
				name: "incident",
				description: "What happened, in the person's words",
				required: true,
			},
		],
		text: ({ incident }) => `Record an incident as a nonconformity.
${about(incident, (text) => `The person says: ${text}.`)}
1. Ask the person what is missing: when it was found, what was affected, what was done immediately, who is responsible, and by when it will be corrected.
2. searchRecords finds the risk, control, measure, asset, vendor or device that it concerns, and listNonconformities an earlier one like it. If devices are concerned, listDevicePostures shows since when a check failed.
3. Propose a root cause and a corrective action, marked as proposals. MAJOR means that a requirement is not met as a whole or that the effect is serious.
4. After a yes, addNonconformity, linkRecords to the records it concerns, and addTask for each step of the correction.

${ASK_BEFORE_WRITING} Do not invent dates, causes or names.`,
	},
];

const TOOL_NAME = /\b(?:list|get|add|update|search|link)[A-Z]\w+/g;

/** Returns the names of the tools that a prompt's text names. */
export function toolsOf(prompt: Prompt): string[] {
	return [...new Set(prompt.text({}).match(TOOL_NAME))];
}

/** Lets clients get prompts. A caller sees those whose tools the caller may all call. */
export function offerPrompts(
	server: Server,
	{ catalogue }: ToolServices,
	{ principal, narrowing }: Caller,
): void {
	const prompts = PROMPTS.filter((prompt) =>
		toolsOf(prompt).every((name) => {
			const tool = catalogue.findWithin(name, principal, narrowing);
			return tool && mayAnywhere(principal, tool.operation);
		}),
	);
	server.setRequestHandler("prompts/list", () => ({
		prompts: prompts.map(({ text, ...shown }) => shown),
	}));
	server.setRequestHandler("prompts/get", ({ params }) => {
		const prompt = prompts.find(({ name }) => name === params.name);
		if (!prompt) {
			const names = prompts.map(({ name }) => name).join(", ") || "none";
			throw invalid(`there is no such prompt; the prompts are ${names}`);
		}
		const given = params.arguments ?? {};
		for (const { name, required } of prompt.arguments) {
			if (required && !given[name]) throw invalid(`${name}: is required`);
		}
		const { description } = prompt;
		const content = { type: "text" as const, text: prompt.text(given) };
		return { description, messages: [{ role: "user" as const, content }] };
	});
}

function invalid(message: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
