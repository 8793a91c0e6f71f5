import type { OutputOf } from "../../api.ts";
import { dayOf } from "../../parts/days.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import {
	BY_EXCEPTION,
	CHECK_STATES,
} from "../../parts/devices/device-words.tsx";
import { isRequired } from "../../parts/devices/states-in-words.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import {
	NOTHING,
	type Report,
	type ReportInput,
	type ReportTable,
} from "./report.ts";

type Check = OutputOf<"listPostureSummary">["checks"][number];

const percent = (value: number | null) =>
	value === null ? NOTHING : percentInWords(value);

/** The states in the order of the columns. */
const STATES = [
	"PASSING",
	"IN_GRACE",
	"FAILING",
	"UNKNOWN",
	"STALE",
	"NOT_REPORTED",
	"EXCEPTED",
	"NOT_APPLICABLE",
] as const satisfies (keyof Check["states"])[];

/** The checks of the fleet at a moment. */
export async function readFleetPosture({
	organizationId,
	asOf,
	source,
}: ReportInput): Promise<Report> {
	const summary = await source.call("listPostureSummary", {
		organization_id: organizationId,
		as_of: asOf,
	});
	const { COMPLIANT, IN_GRACE, NONCOMPLIANT, UNKNOWN } =
		summary.devices_by_compliance;
	const required = summary.checks.filter(isRequired);
	const others = summary.checks.filter(
		(check) =>
			!isRequired(check) && check.not_reported < summary.active_devices,
	);
	return {
		isCut: false,
		csvDay: asOf === undefined ? undefined : { day: dayOf(new Date(asOf)) },
		tables: [
			{
				title: "Active devices",
				...(summary.compliant_by_exception > 0 && {
					note: "Compliant counts the devices that are compliant by exception too. These fail a check, or cannot tell, and an approved exception excuses them from it.",
				}),
				columns: [
					"Devices",
					"Pass rate",
					"Compliant",
					BY_EXCEPTION.label,
					"In grace",
					"Noncompliant",
					"Not proved",
				],
				rows: [
					[
						summary.active_devices,
						percent(summary.pass_percent),
						COMPLIANT,
						summary.compliant_by_exception,
						IN_GRACE,
						NONCOMPLIANT,
						UNKNOWN,
					],
				],
			},
			{
				title: "Checks",
				note: `The pass rate is the share of passing devices among the active devices whose policy requires the check. In grace and past grace, the check fails. Unknown, silent and not reported do not pass either. Excepted devices do not count. ${ROUNDED}`,
				columns: [
					"Check",
					"Pass rate",
					...STATES.map((state) => CHECK_STATES[state]),
				],
				rows: required.map((check) => [
					checkLabel(check.check_key),
					percent(check.pass_percent),
					...STATES.map((state) => check.states[state]),
				]),
			},
			...(others.length > 0 ? [notRequired(others)] : []),
		],
	};
}

/** Lists what devices report of checks that no policy requires. */
const notRequired = (checks: readonly Check[]): ReportTable => ({
	title: "Checks that are not required",
	note: "The device policy requires these checks of no device. The numbers say what devices report.",
	columns: ["Check", "Pass", "Fail", "Unknown", "Not applicable", "Silent"],
	rows: checks.map((check) => [
		checkLabel(check.check_key),
		check.pass,
		check.fail,
		check.unknown,
		check.not_applicable,
		check.stale,
	]),
});
