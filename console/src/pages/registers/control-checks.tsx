import type { AnyRecord } from "../../kinds.ts";
import { CheckResults } from "./check-results.tsx";

/** Shows the results of the device checks that test a control. */
export function ControlChecks({ control }: { control: AnyRecord }) {
	const { checks, tested_by_checks: chosen } = control;
	return (
		<CheckResults checks={Array.isArray(checks) ? checks.map(String) : []}>
			{chosen === null
				? "These checks test the control, by its number in the framework."
				: "Your organization chose these checks to test the control."}
		</CheckResults>
	);
}
