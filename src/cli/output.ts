/** Writes a command's result: `data` as JSON with --json, else `text`. */
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
 * A value that came from outside, fit for a terminal: a hostname could hold escape
 * sequences, or line breaks that forge lines of ours.
 */
export function printable(value: string): string {
	return value.replace(/\p{Cc}/gu, "\ufffd");
}

/** Rows as columns that line up, with a heading. */
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

/** "1 entry", "2 entries". */
export function counted(
	count: number,
	one: string,
	many: string = `${one}s`,
): string {
	return `${count} ${count === 1 ? one : many}`;
}
