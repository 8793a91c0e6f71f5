import { call } from "../../api.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { formatDay } from "../../parts/time.tsx";
import { cell, readAll, readOwners } from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

const choice = (value: unknown) => inWords(String(value ?? NOTHING));
const date = (value: unknown) =>
	typeof value === "string" ? formatDay(value) : NOTHING;

/** All risks with their scores, the highest residual score first. */
export async function readRiskRegister({
	organizationId,
	asOf,
}: ReportInput): Promise<Report> {
	const { records, isCut } = await readAll("risk", {
		organization_id: organizationId,
		order_by: { field: "residual_risk_score", direction: "DESC" },
		as_of: asOf,
	});
	const owners = await readOwners(organizationId, records);
	return {
		isCut,
		tables: [
			{
				title: "Risks",
				columns: [
					"Risk",
					"Category",
					"Treatment",
					"Owner",
					"Inherent score",
					"Residual score",
					"Description",
				],
				rows: records.map((risk) => [
					cell(risk.name),
					cell(risk.category),
					choice(risk.treatment),
					cell(owners.get(risk.owner_id)),
					cell(risk.inherent_risk_score),
					cell(risk.residual_risk_score),
					cell(risk.description),
				]),
			},
		],
	};
}

/** All nonconformities, the latest first. */
export async function readNonconformities({
	organizationId,
	asOf,
}: ReportInput): Promise<Report> {
	const { records, isCut } = await readAll("nonconformity", {
		organization_id: organizationId,
		as_of: asOf,
	});
	const owners = await readOwners(organizationId, records);
	return {
		isCut,
		tables: [
			{
				title: "Nonconformities",
				columns: [
					"Reference",
					"Title",
					"Severity",
					"Status",
					"Owner",
					"Identified",
					"Due",
					"Root cause",
					"Corrective action",
				],
				rows: records.map((one) => [
					cell(one.reference_id),
					cell(one.title ?? one.description),
					choice(one.severity),
					choice(one.status),
					cell(owners.get(one.owner_id)),
					date(one.date_identified),
					date(one.due_date),
					cell(one.root_cause),
					cell(one.corrective_action),
				]),
			},
		],
	};
}

/**
 * The statement of applicability of a framework: which of its controls apply, why others do not,
 * and how far measures cover them.
 */
export async function readApplicability({
	organizationId,
	asOf,
	framework: id,
}: ReportInput): Promise<Report> {
	if (!id) return { tables: [], isCut: false };
	const [{ records, isCut }, found, { framework }] = await Promise.all([
		readAll("control", {
			organization_id: organizationId,
			order_by: { field: "name" },
			filter: { framework_id: id },
			as_of: asOf,
		}),
		call("getFrameworkCoverage", { id, as_of: asOf }),
		call("getFramework", { id, as_of: asOf }),
	]);
	const measures = new Map<unknown, (typeof found.controls)[number]>(
		found.controls.map((control) => [control.id, control]),
	);
	const { controls, included, covered } = found.coverage;
	return {
		isCut,
		subject: [framework.name, framework.version].filter(Boolean).join(" "),
		tables: [
			{
				title: "Summary",
				columns: ["Controls", "Included", "Excluded", "Covered"],
				rows: [[controls, included, controls - included, covered]],
			},
			{
				title: "Controls",
				columns: [
					"Section",
					"Control",
					"Applies",
					"Implemented measures",
					"Measures",
					"Justification of an exclusion",
				],
				rows: records.map((control) => [
					cell(control.section_title),
					cell(control.name),
					control.status === "INCLUDED" ? "Yes" : "No",
					cell(measures.get(control.id)?.implemented_measures),
					cell(measures.get(control.id)?.measures),
					cell(control.exclusion_justification),
				]),
			},
		],
	};
}
