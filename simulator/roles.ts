/** Something unusual about a device. Every ten devices have at least one of each. */
export type Role =
	| "steady"
	/** Goes silent after its first report. */
	| "silent"
	/** Claims hardware that another device has, so it stays PENDING. */
	| "duplicate"
	/** Another machine also reports with its key. */
	| "cloned";

export function roleOf(n: number): Role {
	if (n % 100 === 7) return "duplicate";
	if (n % 100 === 5) return "cloned";
	return n % 30 === 4 ? "silent" : "steady";
}

/** The machine whose hardware a device of the role `duplicate` has. */
export const originalOf = (n: number): number => n - 1;
