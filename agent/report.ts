import type { Reason } from "../src/devices/remediation/reasons.ts";
import { MAX_RESULTS } from "../src/devices/terms.ts";
import { makeId } from "../src/id.ts";
import type { CheckResult } from "./checks/run-checks.ts";
import type { State } from "./state.ts";

/**
 * A report as the agent queues and sends it. Its id is generated once, when the report is made, so
 * the service recognizes a report that arrives twice.
 */
export interface Report {
	report_id: string;
	/** The device that the report is about. Undefined in a report of an older agent. */
	device_id?: string | undefined;
	results: (CheckResult & { correlation_id: string })[];
	/**
	 * The number of dropped reports that the service knows about after it has received this report.
	 */
	dropped_total: number;
}

/** The agent's own check, which reports that reports were lost on the device. */
const QUEUE_CHECK = "AGENT_REPORT_QUEUE";

/** Returns the status of each check as one text, so that two reports can be compared. */
export function describeStatuses(results: readonly CheckResult[]): string {
	return results
		.map(({ check_key, status }) => `${check_key}=${status}`)
		.sort()
		.join(" ");
}

/** Makes a report of these results. The report's id contains the tenant that `deviceId` names. */
export function makeReport(
	results: readonly CheckResult[],
	deviceId: string,
	state: State,
): Report {
	const reportId = makeId(deviceId, "device_posture_report");
	const all = [...results.slice(0, MAX_RESULTS - 1), ...queueResult(state)];
	return {
		report_id: reportId,
		device_id: deviceId,
		results: all.map((result) => ({ ...result, correlation_id: reportId })),
		dropped_total: state.dropped_total,
	};
}

/**
 * Returns a result about lost reports, if there is something to tell. The first report after a loss
 * mentions the loss, because nobody would otherwise see the gap in the history. The next report
 * says that no more reports were lost.
 */
function queueResult(state: State): CheckResult[] {
	const dropped = state.dropped_total - state.dropped_told;
	const observed_at = new Date().toISOString();
	if (dropped > 0) {
		return [
			{
				check_key: QUEUE_CHECK,
				status: "UNKNOWN",
				evidence: {
					reason: "reports_dropped" satisfies Reason,
					dropped_reports: dropped,
					...(state.dropped_since ? { since: state.dropped_since } : {}),
				},
				observed_at,
			},
		];
	}
	if (!state.owes_all_clear) return [];
	return [
		{
			check_key: QUEUE_CHECK,
			status: "PASS",
			evidence: { dropped_reports: 0 },
			observed_at,
		},
	];
}

/** Notes that the service has received this report, and any dropped reports that it mentions. */
export function noteDelivery(report: Report, state: State): void {
	state.last_sent_at = new Date().toISOString();
	const said = report.results.find(
		({ check_key }) => check_key === QUEUE_CHECK,
	);
	if (said) state.owes_all_clear = said.status !== "PASS";
	if (report.dropped_total > state.dropped_told) {
		state.dropped_told = report.dropped_total;
	}
	if (state.dropped_told >= state.dropped_total) state.dropped_since = null;
}
