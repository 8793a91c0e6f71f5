const INTERVAL_MS = 5_000;

/** Lets through what is said when nothing was for some seconds. */
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
