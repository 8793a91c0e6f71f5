import { useQuery } from "@tanstack/react-query";
import { writeReleases } from "../../../../src/agent-packages/release.ts";
import { useOrganization } from "../../organization.ts";
import { operationQuery } from "../../queries.ts";
import { useAgentPackages } from "./agent-packages.ts";

export interface OutdatedAgents {
	count: number;
	/** The filters of the list of these devices. */
	search: { status: string; agent_older_than: string };
}

/**
 * Counts the active devices with Assay's agent for which the service offers a later one. Returns
 * undefined if it offers none, and on a past day.
 */
export function useOutdatedAgents(
	isReady: boolean,
): OutdatedAgents | undefined {
	const { organizationId, day } = useOrganization();
	const isWanted = isReady && !day;
	const newest = writeReleases(useAgentPackages(isWanted).data?.newest ?? {});
	const search = { status: "ACTIVE", agent_older_than: newest };
	const { data } = useQuery({
		...operationQuery("countRecords", {
			organization_id: organizationId,
			kind: "device",
			filter: search,
		}),
		enabled: isWanted && newest !== "",
	});
	return data && newest !== "" ? { count: data.total, search } : undefined;
}
