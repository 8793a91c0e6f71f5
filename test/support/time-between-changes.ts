import type { TestDatabase } from "./database.ts";

/**
 * Returns a time that is later than every change before, and earlier than every change after it.
 */
export async function timeBetweenChanges({
	owner,
}: Pick<TestDatabase, "owner">): Promise<string> {
	const { rows } = await owner.query<{ now: string }>(
		`select to_char((now() + interval '1 ms') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now,
		pg_sleep(0.005)`,
	);
	return rows[0]?.now ?? "";
}
