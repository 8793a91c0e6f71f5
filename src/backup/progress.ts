const INTERVAL_MS = 5_000;

/**
 * Returns a function that reports a text only if some seconds have passed since the last report.
 */
export function atIntervals(
	report: (text: string) => void,
): (text: () => string) => void {
	let at = Date.now();
	return (text) => {
		if (Date.now() - at < INTERVAL_MS) return;
		at = Date.now();
		report(text());
	};
}
