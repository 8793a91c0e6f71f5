const HOUR_MS = 3_600_000;

/**
 * Devices that are remembered. Normal ones report once an hour and are soon forgotten. With a
 * fleet of 3,000,000 a device has to send something every two minutes to stay, and one that sends
 * less often cannot reach the limit: its requests hold a mebibyte at most.
 */
const MAX_DEVICES = 100_000;

interface Hour {
	beganAt: number;
	bytes: number;
}

/** Counts the bytes that each device has stored within an hour. Each process counts for itself. */
export class HourlyBytes {
	readonly #maxBytes: number;
	readonly #now: () => number;
	/** The device used longest ago comes first. */
	readonly #hours = new Map<string, Hour>();

	constructor(maxBytes: number, now = () => performance.now()) {
		this.#maxBytes = maxBytes;
		this.#now = now;
	}

	/** Returns true if the device has stored its share. */
	isUsedUp(device: string): boolean {
		const hour = this.#hours.get(device);
		return (
			hour !== undefined &&
			hour.bytes >= this.#maxBytes &&
			this.#now() - hour.beganAt < HOUR_MS
		);
	}

	/** Notes that the device has stored so many bytes. */
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
