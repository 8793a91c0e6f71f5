/** Scripts in which npm waits for us. Others may start us and end. */
const WAITING = new Set(["start", "demo", "assay", "npx"]);
const LOOK_MS = 250;

/**
 * Calls back when npm, which started this process, has ended. npm sends SIGTERM to the shell
 * between itself and us, and that shell ends without telling us. (`exec` in the script would help,
 * but not in the shell that npm uses on Windows, which has no SIGTERM either.)
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
