/** What takes away something that a bench made. */
export type Undo = () => unknown;

/** For people: what goes on. Standard output is for the result alone. */
export function say(text: string): void {
	process.stderr.write(`${text}\n`);
}

/**
 * Runs a bench and ends the process with the code that it gives, or 1 when it throws. Whatever happens,
 * Ctrl-C included, the steps that stand in `undo` by then are taken first, the last of them first.
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
		// A measurement that was interrupted may still be waiting for something.
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

/** Prints what a bench found; its result is good when nothing that must not be was. */
export function conclude(markdown: string, broken: string[]): number {
	process.stdout.write(markdown);
	for (const promise of broken) say(`BROKEN: ${promise}`);
	return broken.length === 0 ? 0 : 1;
}
