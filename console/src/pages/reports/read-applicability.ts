import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import type { OutputOf } from "../../api.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { formatTime } from "../../parts/time-formats.ts";
import { cell, measuresInWords } from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

type Statement = OutputOf<"getStatementOfApplicability">;

/**
 * Says what an approval means for an unchanged statement as it is now: what it covers, and what has
 * changed without being part of it.
 */
export function approvedParts(
	{ changed_risks: count }: Pick<Statement, "changed_risks">,
	day = "today",
): string {
	const risks =
		count === 0
			? "The risks and obligations behind the controls are the same, too."
			: `Since then, other risks or obligations are linked to ${count} ${count === 1 ? "control" : "controls"} or to ${count === 1 ? "its" : "their"} measures.`;
	return `The approval covers which controls apply, the reasons in words, the measures and the documents. None of these has changed since. ${risks} Progress, evidence and device checks are those of ${day}.`;
}

/** Says how many controls nothing justifies. Returns undefined if there is none. */
export const unjustifiedInWords = ({
	without_justification: count,
}: Pick<Statement, "without_justification">) =>
	count === 0
		? undefined
		: count === 1
			? "1 control has no justification."
			: `${count.toLocaleString()} controls have no justification.`;

/**
 * Says how many controls only risks justify which nobody has decided about. Returns undefined if
 * there is none.
 */
export const undecidedInWords = ({
	only_undecided_risks: count,
}: Pick<Statement, "only_undecided_risks">) =>
	count === 0
		? undefined
		: `${count === 1 ? "1 control is" : `${count.toLocaleString()} controls are`} justified only by risks that nobody has decided about.`;

/**
 * The statement of applicability of a framework: which of its controls apply, why they do or do not,
 * whether they are implemented, and what is behind each.
 */
export async function readApplicability({
	asOf,
	framework,
	version,
	source,
}: ReportInput): Promise<Report> {
	if (!framework) return { tables: [], isCut: false };
	const controls: Statement["controls"] = [];
	const passing = new Map<string, number | null>();
	let hasChecks = false;
	let page: Statement | undefined;
	do {
		page = await source.call("getStatementOfApplicability", {
			framework_id: framework,
			size: MAX_PAGE_SIZE,
			cursor: page?.next_cursor ?? null,
			...(version === undefined
				? asOf && { as_of: asOf }
				: { version_number: version }),
		});
		controls.push(...page.controls);
		hasChecks ||= page.controls.some(({ checks }) => checks.length > 0);
		for (const one of page.checks) {
			passing.set(one.check_key, one.pass_percent);
		}
	} while (page.next_cursor !== null);
	const count = (wanted: Control["implementation"]) =>
		controls.filter(({ implementation }) => implementation === wanted).length;
	const names = (list: readonly { name: string }[]) =>
		list.map(({ name }) => name).join("; ") || NOTHING;
	return {
		isCut: false,
		subject: [page.framework.name, page.framework.version]
			.filter(Boolean)
			.join(" "),
		approval: approvalOf(
			page,
			version === undefined,
			asOf ? "that day" : "today",
		),
		tables: [
			{
				title: "Summary",
				isCount: true,
				columns: [
					"Controls",
					"Included",
					"Excluded",
					"Implemented",
					"Partly implemented",
					"Not implemented",
				],
				rows: [
					[
						page.included + page.excluded,
						page.included,
						page.excluded,
						count("IMPLEMENTED"),
						count("PARTLY_IMPLEMENTED"),
						controls.filter(({ implementation }) =>
							NOT_IMPLEMENTED.includes(implementation),
						).length,
					],
				],
			},
			{
				title: "Controls",
				note: [
					controls.some(isOldCount) ? OLD_COUNT : COUNT,
					"The column Measures has the state of each.",
					hasChecks && passing.size === 0
						? "This version did not keep the results of the device checks."
						: `A device check shows its pass rate${version === undefined ? "" : " at the approval"}: the share of the active devices whose policy requires the check and that no exception excuses. ${ROUNDED}`,
				].join(" "),
				columns: [
					"Section",
					"Control",
					"Applies",
					"Justification",
					"Implemented",
					"Measures",
					"Documents",
					"Evidence",
					"Device checks",
				],
				rows: controls.map((control) => [
					cell(control.section_title),
					cell(control.name),
					control.applies ? "Yes" : "No",
					justificationOf(control),
					implementationOf(control),
					measuresInWords(control.measures),
					names(control.documents),
					names(control.evidence),
					control.checks
						.map((key) => checkWithResult(key, passing.get(key)))
						.join("; ") || NOTHING,
				]),
			},
		],
	};
}

function approvalOf(
	statement: Statement,
	isCurrent: boolean,
	day: string,
): string {
	const { approval, is_changed: isChanged } = statement;
	const lacks = [unjustifiedInWords(statement), undecidedInWords(statement)];
	if (!approval) {
		return ["Nobody has approved this statement yet.", ...lacks]
			.filter(Boolean)
			.join(" ");
	}
	const { version_number: version, approved_by, approved_at, note } = approval;
	const by = `approved by ${approved_by}, ${formatTime(approved_at)}`;
	const words = isChanged
		? `Changed since version ${version}, ${by}.`
		: `Version ${version}, ${by}.`;
	const parts = isCurrent && !isChanged && approvedParts(statement, day);
	return [words, note, parts, ...lacks].filter(Boolean).join(" ");
}

type Control = Statement["controls"][number];

/**
 * Returns why the control applies or does not. A control that applies is justified by what somebody
 * wrote, and by the risks that it treats and the obligations that it meets.
 */
function justificationOf({
	applies,
	justification,
	inclusion_justification,
	risks,
	obligations,
}: Control): string {
	if (!applies) return justification ?? NOTHING;
	const listed = (label: string, list: readonly { name: string }[]) =>
		list.length > 0 && `${label}: ${list.map(({ name }) => name).join("; ")}`;
	const parts = [
		inclusion_justification,
		listed(
			"Risks",
			risks.map(({ name, is_undecided }) => ({
				name: is_undecided ? `${name} (not decided)` : name,
			})),
		),
		listed("Obligations", obligations),
	];
	return parts.filter(Boolean).join(". ") || NOTHING;
}

const COUNT =
	"A control is implemented if all its measures are implemented and no device check contradicts them. It is partly implemented if this holds for some of them. Measures that are not applicable do not count.";

/** The rule of versions that were approved before a control could be partly implemented. */
const OLD_COUNT =
	"When this version was approved, a control counted as implemented if at least one of its measures was implemented and no device check contradicted it.";

/** Returns true for a control that is implemented only by the rule of an older version. */
const isOldCount = ({ implementation, measures }: Control) =>
	implementation === "IMPLEMENTED" &&
	measures.some(
		({ state }) => state !== "IMPLEMENTED" && state !== "NOT_APPLICABLE",
	);

const IMPLEMENTED: Record<NonNullable<Control["implementation"]>, string> = {
	IMPLEMENTED: "Yes",
	PARTLY_IMPLEMENTED: "Partly",
	CONTRADICTED: "No, device checks contradict it",
	IN_PROGRESS: "Under way",
	NOT_STARTED: "Planned",
	NONE: "No",
};

const NOT_IMPLEMENTED: readonly Control["implementation"][] = [
	"CONTRADICTED",
	"IN_PROGRESS",
	"NOT_STARTED",
	"NONE",
];

function implementationOf({ implementation }: Control): string {
	return implementation === null ? NOTHING : IMPLEMENTED[implementation];
}

function checkWithResult(
	key: string,
	percent: number | null | undefined,
): string {
	return typeof percent === "number"
		? `${checkLabel(key)} (${percentInWords(percent)} pass)`
		: checkLabel(key);
}
