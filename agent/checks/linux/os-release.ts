import type { Host } from "../../host.ts";
import { readText } from "./read-text.ts";
import { parseSettings } from "./settings.ts";

/**
 * Returns the fields of os-release(5). Returns undefined if the file is missing or does not name a
 * distribution.
 */
export async function readOsRelease(
	host: Host,
): Promise<Map<string, string> | undefined> {
	const text =
		(await readText(host, "/etc/os-release")) ??
		(await readText(host, "/usr/lib/os-release"));
	if (text === undefined) return undefined;
	const fields = parseSettings(text);
	return /^[a-z0-9._-]{1,40}$/.test(fields.get("ID") ?? "")
		? fields
		: undefined;
}

/**
 * Returns the ids of the distribution and of those that it is derived from, such as `ubuntu` and
 * `debian`.
 */
export function familyOf(release: Map<string, string>): string[] {
	return [
		release.get("ID") ?? "",
		...(release.get("ID_LIKE") ?? "").split(/\s+/),
	].filter((id) => id !== "");
}
