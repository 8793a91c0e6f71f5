import type { Pool } from "pg";

export interface UnsealedCounts {
	entries: number;
	oldest_seconds: number;
}

/** Counts the entries of all organizations that the sealer has not sealed yet. */
export async function readUnsealedCounts(
	pool: Pick<Pool, "query">,
): Promise<UnsealedCounts> {
	const { rows } = await pool.query<UnsealedCounts>(
		"select entries::float8 as entries, oldest_seconds from count_unsealed_entries()",
	);
	if (!rows[0]) throw new Error("count_unsealed_entries returned no row");
	return rows[0];
}
