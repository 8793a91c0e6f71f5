let endRunning: (() => Promise<void>) | undefined;

/** Notes how to end the service that files of this process share. */
export function noteShared(end: () => Promise<void>): void {
	endRunning = end;
}

/**
 * Ends the shared service, if there is one. Its background work runs on while other files run, so a
 * file that replaces timers of its process, or counts its queries, calls this first.
 */
export async function endShared(): Promise<void> {
	const end = endRunning;
	endRunning = undefined;
	await end?.();
}
