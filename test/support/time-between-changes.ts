import type { TestDatabase } from "./database.ts";

/**
 * Returns the database's time, which is later than every change before. The next change has a later
 * millisecond.
 */
export async function timeBetweenChanges({
	owner,
}: Pick<TestDatabase, "owner">): Promise<string> {
	const { rows } = await owner.query<{ now: string }>(
		`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now,
		pg_sleep(0.005)`,
	);
	return rows[0]?.now ?? "";
}
