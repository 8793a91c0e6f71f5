import type { Host } from "../../host.ts";

/** The content of a file, undefined when there is none or it cannot be read. */
export async function readText(
	host: Host,
	path: string,
): Promise<string | undefined> {
	const file = await host.readFile(path);
	return file.kind === "text" ? file.text : undefined;
}

const MAX_LINE = 256;

/** The content of a file of one short line, such as those of /sys, without its end. */
export async function readLine(
	host: Host,
	path: string,
): Promise<string | undefined> {
	const text = await readText(host, path);
	if (text === undefined || text.length > MAX_LINE) return undefined;
	// Texts of a device tree end with a NUL.
	return text.replace(/\0$/, "").trim();
}

/** What a program printed, undefined unless it ran to its end without an error. */
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
