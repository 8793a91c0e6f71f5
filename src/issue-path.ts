/** Returns a path in a value as people write it: `results[3].evidence`. */
export function issuePath(path: readonly PropertyKey[]): string {
	return path.reduce<string>((text, part) => {
		if (typeof part === "number") return `${text}[${part}]`;
		return text ? `${text}.${String(part)}` : String(part);
	}, "");
}
