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

/** Rows as columns that line up, with a heading. */
export function table(heading: string[], rows: string[][]): string {
	const all = [heading, ...rows];
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
