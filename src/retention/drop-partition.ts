import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { codeOf, QUERY_CANCELED } from "../db/sqlstate.ts";
import { partitionOf } from "./partition-name.ts";

/**
 * Drops the partition with the plain reports of a month, if it has none. `month` is its first day.
 * Returns whether it was dropped. The client is the owner's.
 */
export async function dropIfEmpty(
	client: Client,
	month: string,
): Promise<boolean> {
	return dropIf(
		client,
		"posture_reports",
		`not exists (
			select from posture_reports r
			where r.received_at >= $1::date and r.received_at < $1::date + interval '1 month'
		)`,
		month,
	);
}

/**
 * Drops the partition with the packed reports of a month, if the files of the archive have all of
 * them. `month` is its first day. Returns whether it was dropped. The client is the owner's.
 */
export async function dropIfArchived(
	client: Client,
	month: string,
): Promise<boolean> {
	return dropIf(
		client,
		"packed_posture_reports",
		`exists (select from archived_months a where a.month = $1::date)
		and not exists (select from archive_changes c where c.month = $1::date)`,
		month,
		"update archive_files set is_only_copy = true where month = $1::date",
	);
}

/**
 * Drops a partition if the condition holds under its lock, and runs `note` in the same transaction.
 * Row-level security binds the owner, so both run as assay_agent.
 */
async function dropIf(
	client: Client,
	table: Parameters<typeof partitionOf>[0],
	condition: string,
	month: string,
	note?: string,
): Promise<boolean> {
	const name = partitionOf(table, month);
	const asAgent = async <Row extends object>(text: string) => {
		await client.query(setRole("agent", "transaction"));
		const { rows } = await client.query<Row>(text, [month]);
		await client.query(setRole("none", "transaction"));
		return rows;
	};
	const holds = async () => {
		const [row] = await asAgent<{ holds: boolean }>(
			`select ${condition} as holds`,
		);
		return row?.holds === true;
	};
	const inTransaction = async (work: () => Promise<boolean>) => {
		await client.query("begin");
		try {
			const result = await work();
			await client.query("commit");
			return result;
		} catch (error) {
			await client.query("rollback").catch(() => {});
			// A partition with very many dead rows waits until they are vacuumed.
			if (codeOf(error) === QUERY_CANCELED) return false;
			throw error;
		}
	};
	// Usually this already shows, without a lock, that the partition stays.
	if (!(await inTransaction(holds))) return false;
	return inTransaction(async () => {
		// Readers wait meanwhile. They lock the parent first, so this does the same.
		await client.query("set local statement_timeout = '2s'");
		await client.query(`lock table only ${table} in access exclusive mode`);
		await client.query(`lock table ${name} in access exclusive mode`);
		if (!(await holds())) return false;
		if (note) await asAgent(note);
		await client.query(`drop table ${name}`);
		return true;
	});
}
