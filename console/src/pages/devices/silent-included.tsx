import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import {
	countedDevices,
	notSilent,
} from "../../parts/devices/counted-devices.ts";
import { isRequired } from "../../parts/devices/states-in-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import type { FilterValue } from "../../relative-filters.ts";

type Check = OutputOf<"listPostureSummary">["checks"][number];
type Filters = Record<string, FilterValue>;

/**
 * Returns true if the list may have silent devices whose last report failed a check. The figures
 * above the list count these devices as silent, so the two numbers differ.
 */
export function mayIncludeSilent({
	failing_check,
	check_state,
	status = "ACTIVE",
	freshness,
	reporting,
}: Filters): boolean {
	return (
		failing_check !== undefined &&
		status === "ACTIVE" &&
		check_state === undefined &&
		freshness === undefined &&
		reporting === undefined
	);
}

/**
 * Says why the list can have more devices than the figures of its check, and leaves them out.
 */
export function SilentIncluded({
	filters,
	check,
}: {
	filters: Filters;
	/** The figures of the check, or undefined if they are not shown. */
	check: Check | undefined;
}) {
	const { organizationId } = useOrganization();
	return (
		<>
			Silent devices whose last report failed the check are listed too. The
			figures of all devices count them as silent.{" "}
			<TextLink
				to="/o/$org/devices"
				params={{ org: organizationId }}
				search={{
					...filters,
					...(check && isRequired(check)
						? notSilent(check)
						: countedDevices(undefined)),
				}}
				inherit
				underline="always"
			>
				Leave them out
			</TextLink>
		</>
	);
}
