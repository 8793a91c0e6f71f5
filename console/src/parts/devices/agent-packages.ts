import { useQuery } from "@tanstack/react-query";
import type { Releases } from "../../../../src/agent-packages/release.ts";

/**
 * The packages of the agent that the service offers, as src/agent-packages/package-folder.ts says.
 */
export interface AgentPackages {
	version: string;
	/** True if the folder is a signed apt and yum repository. */
	is_signed: boolean;
	packages: AgentPackage[];
	/** The newest version for each platform. */
	newest: Releases;
	/** Files that nobody can download, with the rest of a sentence that begins with the file. */
	withheld: { file: string; reason: string }[];
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
