import { useQuery } from "@tanstack/react-query";

/**
 * The packages of the agent that the service offers, as src/agent-packages/package-list.ts says.
 */
export interface AgentPackages {
	version: string;
	packages: AgentPackage[];
}

export interface AgentPackage {
	file: string;
	platform: string;
	architecture: string;
	format: string;
	bytes: number;
	sha256: string;
}

/** The description of the agent as one file for Node, which console/build.ts writes. */
export interface AgentProgram {
	file: string;
	version: string;
	bytes: number;
	sha256: string;
}

export const PACKAGES_PATH = "/agent-packages/";

/** Reads the list of packages. The data is null if the service offers none. */
export function useAgentPackages(isWanted = true) {
	return useQuery({
		enabled: isWanted,
		queryKey: ["agent packages"],
		staleTime: 60_000,
		queryFn: async ({ signal }): Promise<AgentPackages | null> => {
			const response = await fetch(`${PACKAGES_PATH}packages.json`, { signal });
			if (response.status !== 200) return null;
			return (await response.json()) as AgentPackages;
		},
	});
}

/** Reads the description of the agent as one file. Every service offers that file. */
export function useAgentProgram() {
	return useQuery({
		queryKey: ["agent program"],
		staleTime: 60_000,
		queryFn: async ({ signal }): Promise<AgentProgram> => {
			const response = await fetch(`${PACKAGES_PATH}program.json`, { signal });
			if (!response.ok)
				throw new Error("this service does not offer the agent");
			return (await response.json()) as AgentProgram;
		},
	});
}

/** Returns true if `version` is a release that is earlier than `newest`. */
export function isBehind(version: string | null, newest: string): boolean {
	if (!version || !/^\d+\.\d+\.\d+$/.test(version)) return false;
	return version.localeCompare(newest, "en", { numeric: true }) < 0;
}
