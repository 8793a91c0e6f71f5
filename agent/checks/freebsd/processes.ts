import type { Host } from "../../host.ts";

/**
 * The names of all programs that run outside of jails, cut off by the kernel after 19 characters.
 * Undefined when not all can be seen, as for an ordinary user where `security.bsd.see_other_uids`
 * is 0, so that "it does not run" is never concluded from less.
 */
export async function findProgramNames(
	host: Host,
): Promise<Set<string> | undefined> {
	const result = await host.run("ps", ["-J", "0", "-o", "comm="]);
	if (result.ended !== "exited" || result.exitCode !== 0) return undefined;
	const names = new Set(result.stdout.split("\n").map((line) => line.trim()));
	return names.has("init") ? names : undefined;
}
