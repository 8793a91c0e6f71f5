import type { Host } from "../../host.ts";

/** Returns the content of a file, or undefined if it is missing or cannot be read. */
export async function readText(
	host: Host,
	path: string,
): Promise<string | undefined> {
	const file = await host.readFile(path);
	return file.kind === "text" ? file.text : undefined;
}

const MAX_LINE = 256;

/** Returns the line of a one-line file, such as those of /sys, without its line end. */
export async function readLine(
	host: Host,
	path: string,
): Promise<string | undefined> {
	const text = await readText(host, path);
	if (text === undefined || text.length > MAX_LINE) return undefined;
	// Texts in a device tree end with a NUL.
	return text.replace(/\0$/, "").trim();
}

/** Returns a program's output, or undefined unless it succeeded. */
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
