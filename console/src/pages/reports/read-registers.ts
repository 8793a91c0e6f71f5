import { inWords } from "../../parts/names-in-words.ts";
import { cell, linesOf, readAll, readNames } from "./read-all.ts";
import { type Cell, NOTHING, type Report, type ReportInput } from "./report.ts";

const choice = (value: unknown) => inWords(String(value ?? NOTHING));
const date = (value: unknown): Cell =>
	typeof value === "string" ? { day: value } : NOTHING;

/** All nonconformities, the latest first. */
export async function readNonconformities(input: ReportInput): Promise<Report> {
	const { organizationId, asOf, source } = input;
	const wanted = { organization_id: organizationId, as_of: asOf };
	const { records, isCut } = await readAll(input, "nonconformity", wanted);
	const [owners, audits, { total, groups }] = await Promise.all([
		readNames(input, records, "owner_id"),
		readNames(input, records, "audit_id"),
		source.call("countRecords", {
			...wanted,
			kind: "nonconformity",
			group_by: "status",
		}),
	]);
	const hasAudits = audits.size > 0;
	const counted = (status: string) =>
		groups.find(({ value }) => value === status)?.count ?? 0;
	const summary = {
		title: "Summary",
		isCount: true as const,
		note: "Home and the board summary call a nonconformity open as long as it is not closed.",
		columns: ["Nonconformities", "Open", "In progress", "Closed"],
		rows: [[total, counted("OPEN"), counted("IN_PROGRESS"), counted("CLOSED")]],
	};
	const title = "Nonconformities";
	const end = [
		"Severity",
		"Status",
		"Owner",
		...(hasAudits ? ["Audit"] : []),
		"Identified",
		"Due",
		"Root cause",
		"Corrective action",
		"Effectiveness check",
	];
	const rows = records.map((one) => ({
		reference: cell(one.reference_id),
		title: cell(one.title),
		description: cell(one.description),
		end: [
			choice(one.severity),
			choice(one.status),
			cell(owners.get(one.owner_id)),
			...(hasAudits ? [cell(audits.get(one.audit_id))] : []),
			date(one.date_identified),
			date(one.due_date),
			cell(one.root_cause),
			cell(one.corrective_action),
			cell(one.effectiveness_check),
		],
	}));
	return {
		isCut,
		tables: [
			summary,
			{
				title,
				columns: ["Reference", "Title", "Description", ...end],
				rows: rows.map((one) => [
					one.reference,
					one.title,
					one.description,
					...one.end,
				]),
			},
		],
		pageTables: [
			summary,
			{
				title,
				columns: ["Reference", "Nonconformity", ...end],
				stacked: [1],
				rows: rows.map((one) => [
					one.reference,
					linesOf(one.title, one.description),
					...one.end,
				]),
			},
		],
	};
}
