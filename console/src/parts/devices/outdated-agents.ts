import type { OutputOf } from "../../api.ts";
import { isBehind, useAgentPackages } from "./agent-packages.ts";

type Summary = OutputOf<"listPostureSummary">;

/**
 * Counts the active devices whose agent is older than the newest one. The newest one is that of the
 * packages that the service offers, or else the latest release in the fleet. Returns undefined if
 * neither is known, as on a past day.
 */
export function useOutdatedAgents(
	summary: Summary | undefined,
): { newest: string; count: number } | undefined {
	const packages = useAgentPackages();
	const versions = summary?.devices_by_agent_version;
	if (!versions || packages.isPending) return undefined;
	const newest =
		packages.data?.version ??
		versions
			.map(({ agent_version }) => agent_version)
			.filter((version) => /^\d+\.\d+\.\d+$/.test(version))
			.reduce<string | undefined>(
				(latest, one) =>
					latest === undefined || isBehind(latest, one) ? one : latest,
				undefined,
			);
	if (newest === undefined) return undefined;
	const count = versions
		.filter(({ agent_version }) => isBehind(agent_version, newest))
		.reduce((sum, { devices }) => sum + devices, 0);
	return { newest, count };
}

/** The list of the devices with an outdated agent. */
export const outdatedSearch = (newest: string) => ({
	status: "ACTIVE",
	agent_older_than: newest,
});
