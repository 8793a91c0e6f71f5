import { call } from "../../api.ts";
import { checkLabel } from "../devices/checks.ts";
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
