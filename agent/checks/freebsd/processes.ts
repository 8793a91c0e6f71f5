import type { Host } from "../../host.ts";

/**
 * Returns the names of all programs that run outside of jails; the kernel cuts them off after 19
 * characters. Undefined if not all are visible, as for an ordinary user with
 * `security.bsd.see_other_uids` 0, so that "it does not run" is never concluded from a part.
 */
export async function findProgramNames(
	host: Host,
): Promise<Set<string> | undefined> {
	const result = await host.run("ps", ["-J", "0", "-o", "comm="]);
	if (result.ended !== "exited" || result.exitCode !== 0) return undefined;
	const names = new Set(result.stdout.split("\n").map((line) => line.trim()));
	return names.has("init") ? names : undefined;
}
