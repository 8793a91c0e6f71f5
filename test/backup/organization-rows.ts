import { OF_THE_MOMENT } from "../../src/backup/tables.ts";
import { query } from "../support/backups.ts";
import { connected } from "../support/installations.ts";

export type Row = Record<string, unknown>;

/** Returns the packed reports of an organization, in the form of plain ones. */
export async function unpackedReports(
	url: string,
	organizationId: string,
): Promise<Row[]> {
	const rows = await query<{ row: Row }>(
		url,
		`select to_jsonb(r) as row from (
			select p.organization_id, p.device_id, u.report_id, u.received_at, u.results::jsonb as results
			from packed_posture_reports p
			cross join lateral unpack_reports(
				p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
			) u
			where p.organization_id = $1
		) r`,
		[organizationId],
	);
	return rows.map(({ row }) => row);
}

/** Returns the rows of an organization in every table, or all other rows. */
export async function rowsOf(
	url: string,
	organizationId: string,
	which: "own" | "other" = "own",
): Promise<Record<string, Row[]>> {
	// One connection serves all tables, because opening a connection takes longer than reading a
	// table.
	return connected(url, async (client) => {
		const { rows: tables } = await client.query<{ name: string }>(
			`select c.relname as name from pg_class c
			where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			order by 1`,
		);
		const all: Record<string, Row[]> = {};
		for (const { name } of tables) {
			const { rows } = await client.query<{ row: Row }>(
				`select to_jsonb(t) as row from ${name} t order by t::text`,
			);
			all[name] = rows
				.map(({ row }) => row)
				.filter(
					(row) =>
						(row[name === "organizations" ? "id" : "organization_id"] ===
							organizationId) ===
						(which === "own"),
				);
		}
		return all;
	});
}

/** Tables of organizations that stay behind, besides those that no backup contains. */
export const LEFT_BEHIND = [
	...OF_THE_MOMENT,
	"api_token_usage",
	"archive_changes",
	"archive_files",
	"deleted_organizations",
	"emergency_members",
	"emergency_sign_ins",
	"enrollment_keys",
	"enrollment_tokens",
	"idempotency_keys",
	"identity_providers",
	"invitations",
	"memberships",
	"organization_closures",
	"organization_domains",
	"record_watches",
	"revoked_device_keys",
	"scim_credentials",
	"scim_group_members",
	"scim_groups",
	"scim_requests",
	"scim_users",
	"sign_in_rules",
];

/**
 * The rows that an import makes of the exported ones, in the same order. `unpacked` holds the packed
 * reports in the form of plain ones.
 */
export function expectedRows(
	table: string,
	rows: Row[],
	unpacked: Row[],
): Row[] {
	if (LEFT_BEHIND.includes(table)) return [];
	// An import adds packed reports as plain ones.
	if (table === "packed_posture_reports") return [];
	if (table === "posture_reports") return [...rows, ...unpacked];
	// An import notes its own reports, so that they are packed.
	if (table === "posture_report_changes") return [];
	switch (table) {
		case "devices":
			return rows.map((row) => ({
				...row,
				key_hash: null,
				enrollment_key_id: null,
			}));
		case "webhooks":
			return rows.map((row) => ({
				...row,
				is_enabled: false,
				previous_secret_until: null,
			}));
		case "notification_channels":
			return rows
				.filter((row) => row.kind !== "SLACK")
				.map((row) => ({ ...row, is_enabled: false }));
		case "saved_views":
			return rows.filter((row) => row.owner_id === null);
		case "audit_entries":
			return rows.map(({ id, ...row }) => row);
		case "audit_seals":
			return rows.map(({ entry_id, ...row }) => row);
		default:
			return rows;
	}
}

/** What expectedRows leaves of imported rows, without the entry that the import wrote itself. */
export function importedRows(table: string, rows: Row[]): Row[] {
	if (table === "audit_entries") {
		return rows
			.filter((row) => row.operation !== "importOrganization")
			.map(({ id, ...row }) => row);
	}
	if (table === "posture_report_changes") return [];
	return table === "audit_seals"
		? rows.map(({ entry_id, ...row }) => row)
		: rows;
}

/** The devices and months that an import notes for packing. */
export function notedReports(reports: readonly Row[]): Row[] {
	const noted = new Map<string, Row>();
	for (const { organization_id, device_id, received_at } of reports) {
		const month = `${new Date(String(received_at)).toISOString().slice(0, 7)}-01`;
		noted.set(`${device_id} ${month}`, { month, device_id, organization_id });
	}
	return [...noted.values()];
}

export const sorted = (rows: Row[]) =>
	rows.map((row) => JSON.stringify(row)).sort();
