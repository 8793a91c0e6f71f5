import { Checksums } from "../agent-packages/checksums.ts";
import { readFolder } from "../agent-packages/read-folder.ts";
import { writeReleases } from "../agent-packages/release.ts";
import type { Finding } from "./doctor.ts";

/** Largest number of files that a finding names. */
const MAX_NAMED = 10;

/** Compares the packages of the agent with their checksums. */
export async function examinePackages(folder: string): Promise<Finding> {
	const check = "packages of the agent";
	try {
		const { newest, withheld } = await readFolder(folder, new Checksums());
		if (withheld.length === 0) {
			const versions = writeReleases(newest) || "no package";
			return {
				check,
				status: "ok",
				found: `the service offers ${versions}, with the right checksums`,
			};
		}
		const named = withheld
			.slice(0, MAX_NAMED)
			.map(({ file, reason }) => `${file} ${reason}`);
		const more = withheld.length - named.length;
		return {
			check,
			status: "problem",
			found: `not offered: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
			advice: `build the packages again, or copy them again to ${folder} (docs/agent.md)`,
		};
	} catch (error) {
		return {
			check,
			status: "problem",
			found: `the service offers no packages: ${(error as Error).message}`,
			advice:
				"ASSAY_AGENT_DIR must name a folder that build:packages has made, and that the service may read",
		};
	}
}
