import { join } from "node:path";
import type { KeyHash } from "../devices/authentication.ts";
import { HourlyBytes } from "../devices/hourly-bytes.ts";
import { MAX_HOURLY_BYTES } from "../devices/terms.ts";
import { overloaded } from "../errors.ts";
import { startThread } from "../load/thread.ts";

/** Largest number of bodies that wait for the thread. Each has at most one mebibyte. */
const MAX_WAITING = 8;

/**
 * Reduces reports with very many keys and values in another thread, because parsing one could block
 * the event loop for hundreds of milliseconds. Agents send no such reports, so a thread is started
 * for each, and only one at a time.
 */
export class ReportReducer {
	readonly #devices = new Set<KeyHash>();
	readonly #bytes = new HourlyBytes(MAX_HOURLY_BYTES);
	#latest: Promise<unknown> = Promise.resolve();

	/**
	 * Returns the JSON text of the same report, small enough to parse, or null if `text` is not a
	 * JSON object. Rejects with service_unavailable if the device has such a report in progress, if
	 * too many wait, or if the device has sent too many bytes within the hour.
	 */
	async reduce(device: KeyHash, text: string): Promise<string | null> {
		if (
			this.#devices.has(device) ||
			this.#devices.size >= MAX_WAITING ||
			this.#bytes.isUsedUp(device)
		) {
			throw overloaded();
		}
		this.#devices.add(device);
		this.#bytes.add(device, Buffer.byteLength(text));
		const reduced = this.#latest.then(() => runWorker(text));
		this.#latest = reduced.catch(() => {});
		try {
			return await reduced;
		} finally {
			this.#devices.delete(device);
		}
	}
}

function runWorker(text: string): Promise<string | null> {
	const file = join(import.meta.dirname, "reduce-report.ts");
	return startThread<string | null>(file, text).result;
}
