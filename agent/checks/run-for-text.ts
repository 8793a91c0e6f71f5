import type { Host } from "../host.ts";

/** Returns the output of a program, or undefined if the program failed. */
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
