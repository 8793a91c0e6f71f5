import { call, type OutputOf } from "../../api.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { cell } from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

const PAGE = 100;

type Statement = OutputOf<"getStatementOfApplicability">;

/**
 * The statement of applicability of a framework: which of its controls apply, why they do or do not,
 * whether they are implemented, and what is behind each.
 */
export async function readApplicability({
	asOf,
	framework,
	version,
}: ReportInput): Promise<Report> {
	if (!framework) return { tables: [], isCut: false };
	const controls: Statement["controls"] = [];
	const passing = new Map<string, number | null>();
	let page: Statement | undefined;
	do {
		page = await call("getStatementOfApplicability", {
			framework_id: framework,
			size: PAGE,
			cursor: page?.next_cursor ?? null,
			...(version === undefined
				? asOf && { as_of: asOf }
				: { version_number: version }),
		});
		controls.push(...page.controls);
		for (const one of page.checks) {
			passing.set(one.check_key, one.pass_percent);
		}
	} while (page.next_cursor !== null);
	const names = (list: readonly { name: string }[]) =>
		list.map(({ name }) => name).join("; ") || NOTHING;
	return {
		isCut: false,
		subject: [page.framework.name, page.framework.version]
			.filter(Boolean)
			.join(" "),
		tables: [
			{
				title: "Summary",
				isCount: true,
				columns: ["Controls", "Included", "Excluded"],
				rows: [[page.included + page.excluded, page.included, page.excluded]],
			},
			{
				title: "Controls",
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
					control.measures
						.map(
							({ name, state }) => `${name} (${inWords(state).toLowerCase()})`,
						)
						.join("; ") || NOTHING,
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
		listed("Risks", risks),
		listed("Obligations", obligations),
	];
	return parts.filter(Boolean).join(". ") || NOTHING;
}

const IMPLEMENTED: Record<NonNullable<Control["implementation"]>, string> = {
	IMPLEMENTED: "Yes",
	CONTRADICTED: "No, device checks contradict it",
	IN_PROGRESS: "Under way",
	NOT_STARTED: "Planned",
	NONE: "No",
};

function implementationOf({ implementation }: Control): string {
	return implementation === null ? NOTHING : IMPLEMENTED[implementation];
}

function checkWithResult(
	key: string,
	percent: number | null | undefined,
): string {
	return typeof percent === "number"
		? `${checkLabel(key)} (${percent.toLocaleString()}% proved)`
		: checkLabel(key);
}
