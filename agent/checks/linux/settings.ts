/**
 * Parses `key = value` lines with `[sections]`, the format of systemd, KDE and many other programs.
 * Returns the values by `section/key`, or by `key` before the first section. A later line replaces
 * an earlier one with the same key. Lines of any other form are skipped. Comments begin with # or
 * ;.
 */
export function parseSettings(text: string): Map<string, string> {
	const settings = new Map<string, string>();
	let section = "";
	for (const raw of text.split("\n")) {
		const line = raw.trim();
		if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
		if (line.startsWith("[") && line.endsWith("]")) {
			section = `${line.slice(1, -1)}/`;
			continue;
		}
		const at = line.indexOf("=");
		if (at <= 0) continue;
		const key = line.slice(0, at).trim();
		settings.set(section + key, unquoted(line.slice(at + 1).trim()));
	}
	return settings;
}

export function unquoted(text: string): string {
	const quote = text[0];
	return text.length >= 2 &&
		(quote === '"' || quote === "'") &&
		text.endsWith(quote)
		? text.slice(1, -1)
		: text;
}

/** Parses a yes or no in the words that Linux programs use. Returns undefined for anything else. */
export function parseSwitch(text: string | undefined): boolean | undefined {
	switch (text?.toLowerCase()) {
		case "yes":
		case "true":
		case "on":
		case "1":
			return true;
		case "no":
		case "false":
		case "off":
		case "0":
			return false;
		default:
			return undefined;
	}
}

/** Parses an unsigned whole number of at most nine digits. Returns undefined for anything else. */
export function parseCount(text: string | undefined): number | undefined {
	return text !== undefined && /^\d{1,9}$/.test(text)
		? Number(text)
		: undefined;
}
