import { call } from "../../api.ts";
import { BANDS } from "../../parts/records/risk-scores.ts";
import { checkLabel } from "../devices/checks.ts";
import { cell, readAll } from "./read-all.ts";
import { NOTHING, type Report, type ReportInput } from "./report.ts";

const percent = (value: number | null) =>
	value === null ? NOTHING : `${value.toLocaleString()}%`;

/** The checks of the fleet at a moment. */
export async function readFleetPosture({
	organizationId,
	asOf,
}: ReportInput): Promise<Report> {
	const summary = await call("listPostureSummary", {
		organization_id: organizationId,
		as_of: asOf,
	});
	const { COMPLIANT, IN_GRACE, NONCOMPLIANT, UNKNOWN } =
		summary.devices_by_compliance;
	return {
		isCut: false,
		tables: [
			{
				title: "Active devices",
				isCount: true,
				columns: [
					"Devices",
					"Compliant",
					"In grace",
					"Noncompliant",
					"Not proved",
				],
				rows: [
					[summary.active_devices, COMPLIANT, IN_GRACE, NONCOMPLIANT, UNKNOWN],
				],
			},
			{
				title: "Checks",
				columns: [
					"Check",
					"Pass rate",
					"Pass",
					"Fail",
					"Unknown",
					"Not applicable",
					"Silent",
					"Not reported",
				],
				rows: summary.checks.map((check) => [
					checkLabel(check.check_key),
					percent(check.pass_percent),
					check.pass,
					check.fail,
					check.unknown,
					check.not_applicable,
					check.stale,
					check.not_reported,
				]),
			},
		],
	};
}

const WORK = {
	nonconformities: "Nonconformities",
	tasks: "Tasks",
	obligations: "Obligations",
	continual_improvements: "Continual improvements",
} as const;

const TOP = 10;

/** Figures for the management: risks, coverage, the fleet and open work. */
export async function readBoardSummary(input: ReportInput): Promise<Report> {
	const { organizationId: organization_id } = input;
	const [overview, fleet, top] = await Promise.all([
		call("getOverview", { organization_id }),
		readFleetPosture({ ...input, asOf: undefined }),
		readAll(
			"risk",
			{
				organization_id,
				order_by: { field: "residual_risk_score", direction: "DESC" },
			},
			TOP,
		),
	]);
	const risksWithin = (
		which: "inherent" | "residual",
		from: number,
		until: number,
	) =>
		overview.risks[which]
			.filter(({ likelihood, impact }) => {
				const score = likelihood * impact;
				return score >= from && score <= until;
			})
			.reduce((sum, cell) => sum + cell.risks, 0);
	return {
		isCut: false,
		tables: [
			{
				title: "Risks by score",
				columns: ["Score", "Before treatment", "After treatment"],
				rows: BANDS.map(({ label, min, max }) => [
					`${label}, ${min} to ${max}`,
					risksWithin("inherent", min, max),
					risksWithin("residual", min, max),
				]),
			},
			{
				title: "Highest residual risks",
				columns: ["Risk", "Inherent score", "Residual score"],
				rows: top.records.map((risk) => [
					cell(risk.name),
					cell(risk.inherent_risk_score),
					cell(risk.residual_risk_score),
				]),
			},
			{
				title: "Coverage of frameworks",
				columns: ["Framework", "Controls that apply", "Covered"],
				rows: overview.coverage.map(({ name, included, covered }) => [
					name,
					included,
					covered,
				]),
			},
			{
				title: "Open work",
				columns: ["Register", "Open", "Overdue", "Due within 14 days"],
				rows: Object.entries(WORK).map(([key, label]) => {
					const { open, overdue, due_soon } =
						overview[key as keyof typeof WORK];
					return [label, open, overdue, due_soon];
				}),
			},
			...fleet.tables,
		],
	};
}
