import type { OutputOf } from "../../api.ts";

export interface OutdatedAgents {
	count: number;
	/** The filters of the list of these devices. */
	search: { status: string; agent_older_than: string };
}

/**
 * Returns the number of active devices with Assay's agent for which the service offers a later one.
 * Returns undefined if it offers none, and on a past day.
 */
export function outdatedAgents({
	outdated_agents: found,
}: OutputOf<"listPostureSummary">): OutdatedAgents | undefined {
	if (!found) return undefined;
	return {
		count: found.devices,
		search: { status: "ACTIVE", agent_older_than: found.agent_older_than },
	};
}
