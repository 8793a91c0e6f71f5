import type { Pool } from "pg";
import type { Logger } from "pino";
import { appendRejection, type RejectedCall } from "./log.ts";

/** Rejections of the same caller, operation and organization within this time share two entries. */
const WINDOW_MS = 60_000;

interface Window {
	call: RejectedCall;
	/** Number of rejections after the first, which was written immediately. */
	further: number;
	timer: NodeJS.Timeout;
}

/**
 * The open windows of each pool. They are kept for each pool, because tests run several services in
 * one process.
 */
const windows = new WeakMap<Pool, Map<string, Window>>();

/**
 * Writes to the audit log that the caller's role did not permit a call. Only the first such call of
 * a minute is written immediately. At the end of the minute, a second entry says how many calls
 * followed. Entries can never be deleted, so a script that repeats a rejected call must not fill
 * the log. If the process crashes, the number is lost but the first entry remains.
 */
export async function noteRejectedCall(
	{ pool, log }: { pool: Pool; log: Logger },
	call: RejectedCall,
): Promise<void> {
	const { principal, operation, organizationId } = call;
	const caller = principal.token?.id ?? principal.userId;
	const key = `${caller} ${operation} ${organizationId}`;
	const open = windows.get(pool) ?? new Map<string, Window>();
	windows.set(pool, open);
	const known = open.get(key);
	if (known) {
		known.further++;
		return;
	}
	const timer = setTimeout(() => {
		const window = open.get(key);
		open.delete(key);
		if (!window) return;
		writeFurther(pool, window).catch((err) => {
			log.error({ err, operation }, "rejected calls could not be counted");
		});
	}, WINDOW_MS);
	timer.unref();
	open.set(key, { call, further: 0, timer });
	try {
		await appendRejection(pool, call);
	} catch (error) {
		clearTimeout(timer);
		open.delete(key);
		throw error;
	}
}

/**
 * Writes the second entries of minutes that have not ended yet. The service calls this before it
 * stops.
 */
export async function flushRejectedCalls(pool: Pool): Promise<void> {
	const open = [...(windows.get(pool)?.values() ?? [])];
	windows.delete(pool);
	for (const window of open) {
		clearTimeout(window.timer);
		await writeFurther(pool, window);
	}
}

async function writeFurther(
	pool: Pool,
	{ call, further }: Window,
): Promise<void> {
	if (further === 0) return;
	await appendRejection(pool, { ...call, recordId: null }, further);
}
