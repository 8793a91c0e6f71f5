import { appendFileSync, renameSync, statSync, truncateSync } from "node:fs";

/** Largest size of the log in bytes. One earlier log of about this size stays beside it. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns a function that appends a line to a file. Before the file grows over its limit, the
 * function gives it the ending `.1` and begins a new one. No other program may rename the file,
 * because the agent would go on writing into the renamed one. If a line cannot be written, it goes
 * to standard error. The function writes synchronously, so the last line before the end of the
 * process is in the file. It makes no folder, because a folder that appears after the agent was
 * removed would stay.
 */
export function makeLogFile(
	path: string,
	maxBytes = MAX_BYTES,
): (line: string) => void {
	return (line) => {
		try {
			const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
			if (bytes > 0 && bytes + Buffer.byteLength(line) > maxBytes) {
				setAside(path, bytes > 2 * maxBytes);
			}
			appendFileSync(path, line, { mode: 0o640 });
		} catch {
			process.stderr.write(line);
		}
	};
}

/** Windows cannot rename a file that another program has open. The log then grows for a while. */
function setAside(path: string, isFarTooLarge: boolean): void {
	try {
		renameSync(path, `${path}.1`);
	} catch {
		if (isFarTooLarge) truncateSync(path);
	}
}
