import { useOrganization } from "../../organization.ts";
import { countedDevices } from "../../parts/devices/counted-devices.ts";
import { TextLink } from "../../parts/links.tsx";
import type { FilterValue } from "../../relative-filters.ts";

type Filters = Record<string, FilterValue>;

/**
 * Returns true if the list may have silent devices whose last report failed a check. The figures
 * above the list count these devices as silent, so the two numbers differ.
 */
export function mayIncludeSilent({
	failing_check,
	status = "ACTIVE",
	freshness,
	reporting,
}: Filters): boolean {
	return (
		failing_check !== undefined &&
		status === "ACTIVE" &&
		freshness === undefined &&
		reporting === undefined
	);
}

/**
 * Says why the list can have more devices than the figures of its check, and leaves them out.
 */
export function SilentIncluded({ filters }: { filters: Filters }) {
	const { organizationId } = useOrganization();
	return (
		<>
			Silent devices whose last report failed the check are listed too. The
			figures of all devices count them as silent.{" "}
			<TextLink
				to="/o/$org/devices"
				params={{ org: organizationId }}
				search={{ ...filters, ...countedDevices(undefined) }}
				inherit
				underline="always"
			>
				Leave them out
			</TextLink>
		</>
	);
}
