import { HOUR_MS } from "../units.ts";

/**
 * Largest number of devices that are remembered. A normal device reports once an hour and is soon
 * forgotten. In a fleet of 3,000,000, only a device that sends something every two minutes is
 * remembered. A device that sends less often cannot reach the limit, because each of its requests
 * has at most one mebibyte.
 */
const MAX_DEVICES = 100_000;

interface Hour {
	beganAt: number;
	bytes: number;
}

/**
 * Counts the bytes that each device stores within an hour. Every process has a count of its own, so
 * a device that reaches several processes may store that many times the limit. A common count would
 * cost a write for each report, and the limit only has to keep one device from filling the disk.
 */
export class HourlyBytes {
	readonly #maxBytes: number;
	readonly #now: () => number;
	/** Counts by device. The device that was used longest ago comes first. */
	readonly #hours = new Map<string, Hour>();

	constructor(maxBytes: number, now = () => performance.now()) {
		this.#maxBytes = maxBytes;
		this.#now = now;
	}

	/** Returns true if the device has stored all the bytes that it may store within the hour. */
	isUsedUp(device: string): boolean {
		const hour = this.#hours.get(device);
		return (
			hour !== undefined &&
			hour.bytes >= this.#maxBytes &&
			this.#now() - hour.beganAt < HOUR_MS
		);
	}

	/** Notes that the device has stored this many bytes. */
	add(device: string, bytes: number): void {
		const now = this.#now();
		const known = this.#hours.get(device);
		this.#hours.delete(device);
		const hour =
			known && now - known.beganAt < HOUR_MS
				? known
				: { beganAt: now, bytes: 0 };
		hour.bytes += bytes;
		this.#hours.set(device, hour);
		if (this.#hours.size > MAX_DEVICES) {
			for (const oldest of this.#hours.keys()) {
				this.#hours.delete(oldest);
				break;
			}
		}
	}
}
