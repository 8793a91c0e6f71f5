/** Scripts and runs in which npm waits for us; others may start us and go their way. */
const WAITING = new Set(["start", "demo", "assay", "npx"]);
const LOOK_MS = 250;

/**
 * Calls back when npm, which started this process, has been ended: it hands SIGTERM to the shell between
 * it and us, which ends without a word to us. (`exec` in the script would mend it, but not in the
 * shell that npm has on Windows, where there is no SIGTERM either.)
 */
export function whenNpmEnds(callback: () => void): void {
	if (!WAITING.has(process.env.npm_lifecycle_event ?? "")) return;
	const parent = process.ppid;
	const look = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(look);
		callback();
	}, LOOK_MS).unref();
}
