import type { ServerResponse } from "node:http";
import { AppError } from "../errors.ts";

/** Milliseconds between two checks of a download whose parts are not checked one by one. */
const CHECK_MS = 3_000;

/**
 * Yields the parts of a download. Before each part but the first, `check` throws if the caller may
 * not read it any more. The connection is then closed, so that the client does not take the parts
 * for the whole file.
 */
export async function* whileAllowed<Part>(
	parts: AsyncIterable<Part>,
	check: () => Promise<unknown>,
): AsyncGenerator<Part> {
	let isFirst = true;
	for await (const part of parts) {
		if (!isFirst) await check();
		isFirst = false;
		yield part;
	}
}

/**
 * Closes the connection when the client has read nothing for `unreadMs` to twice this time, and
 * after `maxMs` in any case.
 */
export function limitDownload(
	response: ServerResponse,
	{ unreadMs, maxMs }: { unreadMs: number; maxMs: number },
): void {
	response.setTimeout(unreadMs, () => {
		// With nothing left to send, the connection is idle because the next part is still being read
		// from the database.
		if (response.writableLength > 0) response.destroy();
	});
	const limit = setTimeout(() => response.destroy(), maxMs);
	response.once("close", () => clearTimeout(limit));
}

/**
 * Closes the connection when the client has read less than `minBytes` within `windowMs`, while
 * `applies` is true. A download whose next part the service has not made yet goes on.
 */
export function endWhenSlow(
	response: ServerResponse,
	{ windowMs, minBytes }: { windowMs: number; minBytes: number },
	applies = () => true,
): void {
	const { socket } = response;
	if (!socket) return;
	const sentBytes = () => socket.bytesWritten - socket.writableLength;
	let before = sentBytes();
	const timer = setInterval(() => {
		const now = sentBytes();
		const isSlow = now - before < minBytes && response.writableNeedDrain;
		before = now;
		if (isSlow && applies()) response.destroy();
	}, windowMs);
	response.once("close", () => clearInterval(timer));
}

/**
 * Closes the connection soon after `check` throws that the caller may not read any more. An outage
 * of the database is no such reason.
 */
export function endWhenForbidden(
	response: ServerResponse,
	check: () => Promise<unknown>,
): void {
	let isChecking = false;
	const timer = setInterval(() => {
		if (isChecking) return;
		isChecking = true;
		check()
			.catch((error) => {
				if (isRefusal(error)) response.destroy();
			})
			.finally(() => {
				isChecking = false;
			});
	}, CHECK_MS);
	response.once("close", () => clearInterval(timer));
}

function isRefusal(error: unknown): boolean {
	return (
		error instanceof AppError &&
		["unauthorized", "forbidden", "not_found"].includes(error.code)
	);
}
