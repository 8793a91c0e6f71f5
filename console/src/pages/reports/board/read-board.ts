import { ENDING_DAYS } from "../../../../../src/devices/exceptions/exception-status.ts";
import { percentOf } from "../../../../../src/units.ts";
import type { OutputOf } from "../../../api.ts";
import { todayHere } from "../../../parts/days.ts";
import { BY_EXCEPTION } from "../../../parts/devices/device-words.tsx";
import { ROUNDED } from "../../../parts/percent.ts";
import { trendsOf } from "../../../parts/plots/trends.ts";
import { BANDS, COUNTED_RISKS } from "../../../parts/records/risk-scores.ts";
import { findRegisterKind } from "../../../register-kinds.ts";
import type { Report, ReportInput } from "../report.ts";
import type { Board, BoardSection, Comparison, Decision } from "./board.ts";
import { tablesOf } from "./board-tables.ts";
import { monthsBefore, PERIODS } from "./periods.ts";

type Summary = OutputOf<"getBoardSummary">;
type Figures = Summary["now"];

/** The board summary: figures now and then, twelve months, and what needs a decision. */
export async function readBoardSummary({
	organizationId: organization_id,
	period,
	source,
}: ReportInput): Promise<Report> {
	const wanted = monthsBefore(todayHere(), PERIODS[period].months);
	const [summary, { points }] = await Promise.all([
		source.call("getBoardSummary", { organization_id, compared_with: wanted }),
		source.call("getTrends", { organization_id, counts_today: false }),
	]);
	const board: Board = {
		today: summary.today,
		comparedWith: summary.compared_with,
		wanted,
		key: keyFigures(summary),
		trends: trendsOf(points, summary.now.fleet.pass_percent),
		sections: [
			coverage(summary),
			risks(summary),
			devices(summary),
			work(summary),
		].filter(({ rows }) => rows.length > 0),
		decisions: summary.decisions.map(decisionOf),
	};
	return {
		isCut: false,
		tables: tablesOf(board),
		board,
	};
}

/** Compares what `read` returns for the present with what it returns for the earlier day. */
function compare(
	{ now, before }: Summary,
	read: (figures: Figures) => number | null,
	rest: Omit<Comparison, "now" | "before">,
): Comparison {
	return { now: read(now), before: before && read(before), ...rest };
}

const sumOf = <Row>(rows: readonly Row[], read: (row: Row) => number) =>
	rows.reduce((sum, row) => sum + read(row), 0);

/** Counts the residual risks with a score from `min` to `max`. */
const risksWithin = ({ risks }: Figures, min: number, max = Infinity) =>
	sumOf(
		risks.residual.filter(({ likelihood, impact }) => {
			const score = likelihood * impact;
			return score >= min && score <= max;
		}),
		({ risks }) => risks,
	);

const workOf = ({ work }: Figures, register: string) =>
	work.find((one) => one.register === register);

function keyFigures(summary: Summary): Comparison[] {
	const high = BANDS.find(({ id }) => id === "high")?.min ?? 0;
	const included = (figures: Figures) =>
		sumOf(figures.coverage, (one) => one.included);
	const covered = (figures: Figures) =>
		sumOf(figures.coverage, (one) => one.covered);
	const partly = sumOf(summary.now.coverage, (one) => one.partly_covered);
	const { now } = summary;
	const count = (
		label: string,
		read: (figures: Figures) => number,
		detail?: string,
	) =>
		compare(summary, read, {
			label,
			unit: "",
			good: "less",
			...(detail && { detail }),
		});
	return [
		compare(
			summary,
			(figures) => percentOf(covered(figures), included(figures)),
			{
				label: "Controls covered",
				unit: "%",
				good: "more",
				detail: `${covered(now).toLocaleString()} of ${included(now).toLocaleString()} that apply${alsoPartly(partly)}`,
			},
		),
		compare(summary, ({ fleet }) => fleet.pass_percent, {
			label: "Pass rate",
			unit: "%",
			good: "more",
			detail: `Required checks, ${now.fleet.active_devices === 1 ? "1 device" : `${now.fleet.active_devices.toLocaleString()} devices`}`,
		}),
		count(
			"High and critical risks",
			(figures) => risksWithin(figures, high),
			"After treatment, accepted ones too",
		),
		count(
			"Overdue work",
			({ work }) => sumOf(work, ({ overdue }) => overdue),
			"Past its due date",
		),
		count(
			"Open nonconformities",
			(figures) => workOf(figures, "nonconformity")?.open ?? 0,
			`${now.major_nonconformities.toLocaleString()} major`,
		),
		count(
			"Exceptions in force",
			(figures) => figures.exceptions_in_force,
			"Each excuses devices from a check",
		),
	];
}

const alsoPartly = (controls: number) =>
	controls === 0 ? "" : `, ${controls.toLocaleString()} more partly`;

/** Frameworks are compared by their id, because their names may change. */
function coverage(summary: Summary): BoardSection {
	const { now } = summary;
	return {
		title: "Coverage of frameworks",
		hasBars: true,
		note: ROUNDED,
		rows: now.coverage.map(({ framework_id: id, name, ...counts }) =>
			compare(
				summary,
				(figures) => {
					const one = figures.coverage.find((each) => each.framework_id === id);
					return one ? percentOf(one.covered, one.included) : null;
				},
				{
					label: name,
					unit: "%",
					good: "more",
					detail: `${counts.covered.toLocaleString()} of ${counts.included.toLocaleString()} controls${alsoPartly(counts.partly_covered)}`,
				},
			),
		),
	};
}

function risks(summary: Summary): BoardSection {
	const rows = BANDS.toReversed().map(({ label, min, max, background }) =>
		compare(summary, (figures) => risksWithin(figures, min, max), {
			label: `${label}, ${min} to ${max}`,
			unit: "",
			good: min >= 10 ? "less" : "neither",
			color: background,
		}),
	);
	const top = Math.max(
		1,
		...rows.map(({ now, before }) => Math.max(now ?? 0, before ?? 0)),
	);
	return {
		title: "Risks after treatment",
		hasBars: true,
		rows: rows.map((row) => ({ ...row, top })),
		note: COUNTED_RISKS,
	};
}

function devices(summary: Summary): BoardSection {
	const rowOf = (
		state: keyof Figures["fleet"]["devices_by_compliance"],
		label: string,
		good: Comparison["good"],
	) =>
		compare(summary, ({ fleet }) => fleet.devices_by_compliance[state], {
			label,
			unit: "",
			good,
		});
	const byException = compare(
		summary,
		({ fleet }) => fleet.compliant_by_exception,
		{
			label: BY_EXCEPTION.label,
			unit: "",
			good: "neither",
			detail: "Counted as compliant too",
		},
	);
	return {
		title: "Devices",
		hasBars: false,
		rows: [
			compare(summary, ({ fleet }) => fleet.active_devices, {
				label: "Active",
				unit: "",
				good: "neither",
			}),
			rowOf("COMPLIANT", "Compliant", "more"),
			...(byException.now || byException.before ? [byException] : []),
			rowOf("IN_GRACE", "In grace", "neither"),
			rowOf("NONCOMPLIANT", "Noncompliant", "less"),
			rowOf("UNKNOWN", "Not proved", "less"),
		],
		note: "In grace: a check fails, and days are left to fix it. Noncompliant: a check fails past its grace. Not proved: a check is unknown or silent.",
	};
}

function work(summary: Summary): BoardSection {
	const rows = summary.now.work.map(({ register }) =>
		compare(summary, (figures) => workOf(figures, register)?.overdue ?? 0, {
			label: findRegisterKind(register)?.label ?? register,
			unit: "",
			good: "less",
			detail: `${workOf(summary.now, register)?.open.toLocaleString()} open`,
		}),
	);
	return { title: "Overdue work", hasBars: false, rows };
}

const DECISIONS: Record<Summary["decisions"][number]["kind"], string> = {
	CRITICAL_RISKS: "Accept or reduce risks that are critical after treatment",
	UNDECIDED_RISKS: "Decide how to treat suggested risks, also critical ones",
	ENDED_ACCEPTANCES: "Decide again about risks whose acceptance has ended",
	OVERDUE_MAJOR_NONCONFORMITIES: "Close overdue major nonconformities",
	CONTRADICTED_MEASURES: "Correct measures that device checks contradict",
	DOCUMENTS_TO_APPROVE: "Approve documents",
	EXCEPTIONS_TO_DECIDE: "Approve or reject requested exceptions",
	ENDING_EXCEPTIONS: `Extend or close exceptions that end within ${ENDING_DAYS} days`,
};

const decisionOf = ({
	kind,
	...rest
}: Summary["decisions"][number]): Decision => ({
	kind,
	text: DECISIONS[kind],
	...rest,
});
