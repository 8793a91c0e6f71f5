import { recordKinds } from "../registers/all.ts";
import type { Manifest, RowCounts } from "./format.ts";

/** The numbers that people want to know about a backup. */
export interface Summary {
	/** The moment whose data the backup contains, in RFC 3339. */
	made_at: string;
	/** The version of Assay that made the backup. */
	made_by: string;
	organizations: number;
	users: number;
	/** Members of the organization. Only an export has them. */
	members?: number;
	devices: number;
	posture_reports: number;
	/** Number of records in all registers. */
	records: number;
	audit_entries: number;
	/** Number of rows of every table, by the table's name. */
	rows: RowCounts;
}

export function summarize(manifest: Manifest, rows: RowCounts): Summary {
	const count = (table: string) => rows[table] ?? 0;
	return {
		made_at: manifest.made_at,
		made_by: manifest.assay,
		organizations: count("organizations"),
		users: count("users"),
		...(rows.members !== undefined && { members: rows.members }),
		devices: count("devices"),
		posture_reports: count("posture_reports"),
		records: recordKinds.reduce((sum, { table }) => sum + count(table), 0),
		audit_entries: count("audit_entries"),
		rows,
	};
}

export function describeSummary(summary: Summary): string {
	const { members } = summary;
	const people: [string, number][] =
		members === undefined
			? [
					["organizations", summary.organizations],
					["users", summary.users],
				]
			: [["members", members]];
	const facts: [string, number][] = [
		...people,
		["devices", summary.devices],
		["posture reports", summary.posture_reports],
		["records", summary.records],
		["audit entries", summary.audit_entries],
	];
	return facts
		.map(([label, value]) => `  ${label.padEnd(17)}${value}`)
		.join("\n");
}
