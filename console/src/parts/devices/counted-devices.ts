import type { ListSearch } from "../../list-search.ts";

/**
 * Returns the filter for devices that are counted as passing, failing or unknown. Devices that are
 * stale or have not reported are counted separately. The heartbeats of a past day are not known.
 */
export function countedDevices(day: string | undefined): ListSearch {
	if (day) return { status: "ACTIVE" };
	return { status: "ACTIVE", freshness: "ONLINE", reporting: "REPORTING" };
}
