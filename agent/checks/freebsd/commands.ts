import type { Host } from "../../host.ts";

/** Returns the output of a command, or undefined if the command failed. */
export async function runForText(
	host: Host,
	program: string,
	args: readonly string[],
): Promise<string | undefined> {
	const result = await host.run(program, args);
	return result.ended === "exited" && result.exitCode === 0
		? result.stdout
		: undefined;
}

/**
 * Returns the value of a kernel variable, or undefined if this kernel does not have the variable.
 */
export async function readSysctl(
	host: Host,
	name: string,
): Promise<string | undefined> {
	const text = (await runForText(host, "sysctl", ["-n", name]))?.trim();
	return text === undefined || text.length > 1000 ? undefined : text;
}
