/**
 * The npm scripts in which npm waits until this process ends. A program started in any other way
 * may continue after the process that started it has ended.
 */
const WAITING = new Set(["start", "demo", "assay", "npx"]);
const LOOK_MS = 250;

/**
 * Calls `callback` when npm, which started this process, has ended. npm sends SIGTERM only to the
 * shell between npm and this process, and that shell ends without passing the signal on. `exec` in
 * the script would help, but not on Windows: npm uses a shell without `exec` there, and Windows has
 * no SIGTERM.
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
