import type { AnyRecord } from "../../kinds.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { CheckResults } from "./check-results.tsx";

const VERIFICATIONS = {
	MET: { label: "Verified", tone: "good" },
	NOT_MET: { label: "Not verified", tone: "bad" },
	NO_DATA: { label: "No data", tone: "warning" },
} as const;

/** Shows what the device check of a measure says, beside the state that people chose. */
export function MeasureCheck({ measure }: { measure: AnyRecord }) {
	const { verified_by_check: check, verified_by_percent: percent } = measure;
	if (typeof check !== "string" || typeof percent !== "number") return null;
	const verification =
		VERIFICATIONS[measure.verification as keyof typeof VERIFICATIONS];
	return (
		<CheckResults
			checks={[check]}
			wanted={percent}
			badge={verification && <StatusBadge {...verification} />}
		>
			{percent === 100
				? "Every required device must pass this check to verify the measure."
				: `At least ${percent}% of the required devices must pass this check to verify the measure.`}
		</CheckResults>
	);
}
