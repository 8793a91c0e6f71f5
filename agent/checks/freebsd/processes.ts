import type { Host } from "../../host.ts";

/**
 * Returns the names of all programs that run outside of jails. The kernel cuts names off after 19
 * characters. Returns undefined if some processes are not visible, for example to an ordinary user
 * when `security.bsd.see_other_uids` is 0. A check must not conclude from an incomplete list that a
 * program is not running.
 */
export async function findProgramNames(
	host: Host,
): Promise<Set<string> | undefined> {
	const result = await host.run("ps", ["-J", "0", "-o", "comm="]);
	if (result.ended !== "exited" || result.exitCode !== 0) return undefined;
	const names = new Set(result.stdout.split("\n").map((line) => line.trim()));
	return names.has("init") ? names : undefined;
}
