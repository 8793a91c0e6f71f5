/**
 * Something unusual about a device. Among ten consecutive devices, each of these roles occurs at
 * least once.
 */
export type Role =
	| "steady"
	/** The device goes silent after its first report. */
	| "silent"
	/** The device claims hardware that belongs to another device, so it stays PENDING. */
	| "duplicate"
	/** Another machine reports with the same key. */
	| "cloned";

export function roleOf(n: number): Role {
	if (n % 100 === 7) return "duplicate";
	if (n % 100 === 5) return "cloned";
	return n % 30 === 4 ? "silent" : "steady";
}

/** Returns the number of the machine whose hardware a device with the role `duplicate` claims. */
export const originalOf = (n: number): number => n - 1;
