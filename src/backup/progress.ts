const INTERVAL_MS = 5_000;

/** Returns a reporter that passes a text on when nothing was reported for some seconds. */
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
