/** Longest time, in milliseconds, for which reading a workbook keeps the page from reacting. */
const TURN_MS = 40;

/** Makes a function that lets the page react if the work has lasted for long since the last time. */
export function makePageYield(): () => Promise<void> {
	let began = performance.now();
	return async () => {
		if (performance.now() - began < TURN_MS) return;
		await new Promise((resolve) => setTimeout(resolve));
		began = performance.now();
	};
}
