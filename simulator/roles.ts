/** What is odd about a device; in every ten devices at least one of each. */
export type Role =
	| "steady"
	/** Falls silent after its first report. */
	| "silent"
	/** Says that it is hardware which another device has: it stays PENDING. */
	| "duplicate"
	/** Another machine reports with its key as well. */
	| "cloned";

export function roleOf(n: number): Role {
	if (n % 100 === 7) return "duplicate";
	if (n % 100 === 5) return "cloned";
	return n % 30 === 4 ? "silent" : "steady";
}

/** The machine whose hardware a device of the role `duplicate` has. */
export const originalOf = (n: number): number => n - 1;
