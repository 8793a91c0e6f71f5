/** A step that removes something that the benchmark has made. */
export type Undo = () => unknown;

/** Prints progress for people on standard error. Standard output contains only the result. */
export function say(text: string): void {
	process.stderr.write(`${text}\n`);
}

/**
 * Runs a benchmark and ends the process with its exit code, or with 1 if it throws. Before that,
 * the steps in `undo` are done, the last one first. This also happens after Ctrl-C.
 */
export async function runAndUndo(
	run: () => Promise<number>,
	undo: Undo[],
): Promise<never> {
	const end = async (code: number): Promise<never> => {
		for (let step = undo.pop(); step; step = undo.pop()) {
			try {
				await step();
			} catch (error) {
				say(`while cleaning up: ${error}`);
			}
		}
		// The process must not wait for an interrupted measurement, which may still be waiting for
		// something.
		process.exit(code);
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => void end(1));
	}
	const code = await run().catch((error) => {
		say(`bench: ${error instanceof Error ? error.stack : error}`);
		return 1;
	});
	return end(code);
}

/** Prints the result of a benchmark. Returns the exit code, which is 0 if no promise was broken. */
export function conclude(markdown: string, broken: string[]): number {
	process.stdout.write(markdown);
	for (const promise of broken) say(`BROKEN: ${promise}`);
	return broken.length === 0 ? 0 : 1;
}
