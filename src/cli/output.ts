/** Writes a command's result: `data` as JSON with --json, otherwise `text`. */
export function print(
	options: { json?: boolean },
	data: object,
	text: string,
): void {
	process.stdout.write(
		options.json ? `${JSON.stringify(data)}\n` : `${text.trimEnd()}\n`,
	);
}

/**
 * Makes a value from outside safe for a terminal: a hostname could contain escape sequences, or
 * line breaks that imitate lines of ours.
 */
export function printable(value: string): string {
	return value.replace(/\p{Cc}/gu, "\ufffd");
}

/** Formats rows as aligned columns with a heading. */
export function table(heading: string[], rows: string[][]): string {
	const all = [heading, ...rows.map((row) => row.map(printable))];
	const widths = heading.map((_, column) =>
		Math.max(...all.map((row) => row[column]?.length ?? 0)),
	);
	return all
		.map((row) =>
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}

/** Returns for example "1 entry" or "2 entries". */
export function counted(
	count: number,
	one: string,
	many: string = `${one}s`,
): string {
	return `${count} ${count === 1 ? one : many}`;
}
