/** The titles of the reports by the last part of their address. The search offers them too. */
export const REPORT_TITLES = {
	"board-summary": "Board summary",
	"risk-register": "Risk register",
	"statement-of-applicability": "Statement of applicability",
	"fleet-posture": "Fleet posture",
	nonconformities: "Nonconformities",
} as const;
