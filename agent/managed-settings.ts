import { AgentError } from "./agent-error.ts";
import { parseObject } from "./files.ts";
import type { Host } from "./host.ts";

/** macOS writes this file for a profile with settings of the domain assay-agent. */
export const MANAGED_FILE = "/Library/Managed Preferences/assay-agent.plist";

/**
 * Returns the settings that a management system put on this Mac. There are none on other systems.
 * A management system may set an empty text, such as the address of a device without a user. It
 * counts as not set.
 */
export async function readManagedSettings<Name extends string>(
	host: Host,
	names: readonly Name[],
): Promise<Map<Name, string>> {
	const settings = new Map<Name, string>();
	if (host.platform !== "DARWIN") return settings;
	if ((await host.readFile(MANAGED_FILE)).kind === "missing") return settings;
	const { stdout } = await host.run("plutil", [
		"-convert",
		"json",
		"-o",
		"-",
		MANAGED_FILE,
	]);
	const values = parseObject(stdout);
	if (!values) {
		throw new AgentError(
			`plutil cannot read ${MANAGED_FILE}; the profile for assay-agent may contain only texts`,
		);
	}
	for (const name of names) {
		const value = values[name];
		if (value === undefined) continue;
		if (typeof value !== "string") {
			throw new AgentError(
				`${name} in the profile for assay-agent must be a text`,
			);
		}
		if (value.trim() !== "") settings.set(name, value.trim());
	}
	return settings;
}
