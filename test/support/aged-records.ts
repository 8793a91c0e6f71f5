import type { Pool } from "pg";
import { recordKinds } from "../../src/registers/all.ts";

/**
 * Moves all records of an organization, their links and former states, and the beginning of the
 * history into the past by an interval such as "3 months".
 */
export async function ageRecords(
	owner: Pick<Pool, "query">,
	organizationId: string,
	interval: string,
): Promise<void> {
	const earlier = (table: string, ...columns: string[]) =>
		`update ${table} set ${columns
			.map((column) => `${column} = ${column} - interval '${interval}'`)
			.join(", ")} where organization_id = '${organizationId}'`;
	// One text with several statements is one transaction. Triggers would set updated_at.
	await owner.query(
		[
			"set local session_replication_role = replica",
			...recordKinds.map(({ table }) => earlier(table, "updated_at")),
			earlier("record_links", "created_at"),
			earlier("record_versions", "valid_from", "valid_to"),
			`update organizations set records_known_since = records_known_since - interval '${interval}'
				where id = '${organizationId}'`,
		].join(";"),
	);
}
