import { REPORT_TITLES } from "../../parts/report-titles.ts";
import { readBoardSummary } from "./board/read-board.ts";
import { readApplicability } from "./read-applicability.ts";
import { readFleetPosture } from "./read-fleet-posture.ts";
import { readNonconformities } from "./read-registers.ts";
import { readRiskRegister } from "./read-risk-register.ts";
import type { Report, ReportInput } from "./report.ts";

interface Definition {
	title: string;
	/** Question that the report answers, in one sentence. */
	about: string;
	read: (input: ReportInput) => Promise<Report>;
	/**
	 * Set if the report can show a past day. The states of devices are known from the organization's
	 * beginning, and those of records often only from later on.
	 */
	showsPast?: "records" | "devices";
	/** True if the report is about one framework. */
	hasFramework?: true;
	/** True if the report compares with an earlier day. */
	hasPeriod?: true;
}

/** The reports by the last part of their address. */
export const REPORTS = {
	"board-summary": {
		title: REPORT_TITLES["board-summary"],
		about:
			"Where we stand, how it changed, twelve months, and what needs a decision.",
		read: readBoardSummary,
		hasPeriod: true,
	},
	"risk-register": {
		title: REPORT_TITLES["risk-register"],
		about:
			"All risks with level, likelihood and impact before and after treatment, owner and measures.",
		read: readRiskRegister,
		showsPast: "records",
	},
	"statement-of-applicability": {
		title: REPORT_TITLES["statement-of-applicability"],
		about:
			"Which controls of a framework apply and why, whether they are implemented, and what is behind each.",
		read: readApplicability,
		showsPast: "records",
		hasFramework: true,
	},
	"fleet-posture": {
		title: REPORT_TITLES["fleet-posture"],
		about: "How many devices pass each check, today or on a past day.",
		read: readFleetPosture,
		showsPast: "devices",
	},
	nonconformities: {
		title: REPORT_TITLES.nonconformities,
		about: "What was wrong, why, and what is done about it.",
		read: readNonconformities,
		showsPast: "records",
	},
} satisfies Record<keyof typeof REPORT_TITLES, Definition>;

export function findReport(name: string): Definition | undefined {
	return Object.hasOwn(REPORTS, name)
		? REPORTS[name as keyof typeof REPORTS]
		: undefined;
}
