/** Milliseconds of an hour. */
export const HOUR_MS = 3_600_000;
/** Milliseconds of a day of 24 hours. */
export const DAY_MS = 24 * HOUR_MS;

/**
 * Returns the share of a part in a whole as a percentage with one decimal, or null if the whole is
 * empty. It is rounded down, so 100 means all of them, and a percentage that equals a wanted one
 * has really reached it.
 */
export const percentOf = (part: number, whole: number): number | null =>
	whole > 0 ? Math.floor((1000 * part) / whole) / 10 : null;

/** SQL of the same share. Both are SQL of integers. */
export const percentSql = (part: string, whole: string) =>
	`floor(1000.0 * (${part}) / nullif(${whole}, 0))::float8 / 10`;
