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

/** Returns the only line of a file, such as those in /sys, without its line end. */
export async function readLine(
	host: Host,
	path: string,
): Promise<string | undefined> {
	const text = await readText(host, path);
	if (text === undefined || text.length > MAX_LINE) return undefined;
	// Texts from a device tree end with a NUL character.
	return text.replace(/\0$/, "").trim();
}
