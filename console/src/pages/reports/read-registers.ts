import { UNDECIDED_NOTE } from "../../../../src/starters/undecided.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { formatDay } from "../../parts/time.tsx";
import { cell, readAll, readOwners } from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

const choice = (value: unknown) => inWords(String(value ?? NOTHING));
const date = (value: unknown) =>
	typeof value === "string" ? formatDay(value) : NOTHING;

/** All risks with their scores, the highest residual score first. */
export async function readRiskRegister(input: ReportInput): Promise<Report> {
	const { organizationId, asOf } = input;
	const { records, isCut } = await readAll("risk", {
		organization_id: organizationId,
		order_by: { field: "residual_risk_score", direction: "DESC" },
		as_of: asOf,
	});
	const owners = await readOwners(input, records);
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
					risk.note === UNDECIDED_NOTE ? "Not decided" : choice(risk.treatment),
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
export async function readNonconformities(input: ReportInput): Promise<Report> {
	const { organizationId, asOf } = input;
	const { records, isCut } = await readAll("nonconformity", {
		organization_id: organizationId,
		as_of: asOf,
	});
	const owners = await readOwners(input, records);
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
