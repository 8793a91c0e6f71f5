import type { Reason } from "../../../src/devices/remediation/reasons.ts";
import type { Host } from "../../host.ts";
import { whyFailed } from "../failed-command.ts";

/** The switches and numbers that a property list sets. */
export type Preferences = Map<string, boolean | number>;

export type PreferencesAnswer =
	| { known: true; values: Preferences }
	| { known: false; reason: Reason };

/**
 * Reads the switches and whole numbers at the top level of a property list. A file that does not
 * exist sets nothing. `plutil` converts the file to XML and not to JSON, because many of these
 * files contain dates, which JSON cannot hold. It indents each level by one tab and escapes `<` in
 * strings. A line that begins with one tab and `<key>` is therefore always a key at the top level.
 */
export async function readPreferences(
	host: Host,
	path: string,
): Promise<PreferencesAnswer> {
	const file = await host.readFile(path);
	if (file.kind === "missing") return { known: true, values: new Map() };
	const result = await host.run("plutil", [
		"-convert",
		"xml1",
		"-o",
		"-",
		path,
	]);
	const problem = whyFailed(result, host);
	if (problem !== undefined) return { known: false, reason: problem };
	if (
		!/<plist version="1\.0">\s*<dict\/?>/.test(result.stdout) ||
		!/<(\/dict|dict\/)>\s*<\/plist>\s*$/.test(result.stdout)
	) {
		return { known: false, reason: "unrecognized_output" };
	}
	const values: Preferences = new Map();
	const found = result.stdout.matchAll(
		/^\t<key>([A-Za-z0-9]{1,64})<\/key>\n\t(?:<(true|false)\/>|<(?:integer|real)>(\d{1,9})<\/(?:integer|real)>)$/gm,
	);
	for (const [, key, flag, number] of found) {
		if (key === undefined) continue;
		values.set(key, number === undefined ? flag === "true" : Number(number));
	}
	return { known: true, values };
}

/** Returns the value of a switch. Some scripts write switches as 0 or 1. */
export function readSwitch(
	values: Preferences,
	key: string,
): boolean | undefined {
	const value = values.get(key);
	if (value === 1) return true;
	if (value === 0) return false;
	return typeof value === "boolean" ? value : undefined;
}

export function readNumber(
	values: Preferences,
	key: string,
): number | undefined {
	const value = values.get(key);
	return typeof value === "number" ? value : undefined;
}
