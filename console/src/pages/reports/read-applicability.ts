import { call, type OutputOf } from "../../api.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { cell } from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

const PAGE = 100;

type Statement = OutputOf<"getStatementOfApplicability">;

/**
 * The statement of applicability of a framework: which of its controls apply, why others do not,
 * and what is behind each.
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
				columns: ["Controls", "Included", "Excluded"],
				rows: [[page.included + page.excluded, page.included, page.excluded]],
			},
			{
				title: "Controls",
				columns: [
					"Section",
					"Control",
					"Applies",
					"Justification of an exclusion",
					"Measures",
					"Documents",
					"Evidence",
					"Device checks",
				],
				rows: controls.map((control) => [
					cell(control.section_title),
					cell(control.name),
					control.applies ? "Yes" : "No",
					cell(control.justification),
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

function checkWithResult(
	key: string,
	percent: number | null | undefined,
): string {
	return typeof percent === "number"
		? `${checkLabel(key)} (${percent.toLocaleString()}% pass)`
		: checkLabel(key);
}
