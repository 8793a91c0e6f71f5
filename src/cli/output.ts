/** Writes a command's result: `data` as JSON with --json, and `text` otherwise. */
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
 * Makes a value from outside safe for a terminal. A hostname, for example, could contain escape
 * sequences, or line breaks that imitate lines of our own output.
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

/** Returns a number with its noun, such as "1 entry" or "2 entries". */
export function counted(
	count: number,
	one: string,
	many: string = `${one}s`,
): string {
	return `${count} ${count === 1 ? one : many}`;
}
