import type { PoolClient } from "pg";
import { asApp } from "../audit/redaction.ts";
import { nameSql } from "../records/record-name.ts";
import { recordKinds } from "../registers/all.ts";
import type { Trace } from "./traces.ts";

/** Columns of a table with texts that people write. */
interface Texts {
	kind: string;
	table: string;
	columns: readonly string[];
	/** SQL for the name of a row `t`, by which an operator recognizes it. */
	name: string;
	/** SQL for the id of a row `t`, if it is not `t.id`. */
	id?: string;
}

const TEXT_TYPES = ["name", "text", "url", "email", "names", "emails"];

/**
 * Everything in which somebody may have written a person's name. It leaves out names of users, such
 * as the author of a comment, because the erasure of the user replaces them.
 */
export const texts: readonly Texts[] = [
	...recordKinds.map((definition) => ({
		kind: definition.kind as string,
		table: definition.table,
		columns: Object.entries(definition.fields)
			.filter(([, { type }]) => TEXT_TYPES.includes(type))
			.map(([column]) => column),
		name: nameSql(definition, "t"),
	})),
	{
		kind: "device",
		table: "devices",
		columns: ["name", "hostname"],
		name: "coalesce(t.name, t.hostname)",
	},
	{
		kind: "record_comment",
		table: "record_comments",
		columns: ["text"],
		name: "left(t.text, 100)",
	},
	{
		kind: "document_version",
		table: "document_versions",
		columns: ["title", "content", "changelog"],
		name: "concat(t.title, ', version ', t.version_number)",
	},
	{
		kind: "document_version",
		table: "document_approvals",
		columns: ["note"],
		id: "t.version_id",
		name: `(
			select concat(v.title, ', version ', v.version_number) from document_versions v
			where v.organization_id = t.organization_id and v.id = t.version_id
		)`,
	},
	{
		kind: "applicability_statement",
		table: "applicability_statements",
		columns: ["framework_name", "framework_version", "note", "controls"],
		name: "concat(t.framework_name, ', version ', t.version_number)",
	},
	{
		kind: "vendor_review",
		table: "vendor_reviews",
		columns: ["note"],
		name: `(
			select v.name from vendors v
			where v.organization_id = t.organization_id and v.id = t.vendor_id
		)`,
	},
	{
		kind: "device_exception",
		table: "device_exceptions",
		columns: ["reason", "decision_note"],
		name: "left(t.reason, 100)",
	},
	{
		kind: "device_group",
		table: "device_groups",
		columns: ["name", "description", "filter"],
		name: "t.name",
	},
	{
		kind: "evidence",
		table: "evidence_files",
		columns: ["file_name"],
		id: "t.evidence_id",
		name: "t.file_name",
	},
	{
		kind: "snapshot",
		table: "snapshots",
		columns: ["name", "description"],
		name: "t.name",
	},
	{
		kind: "saved_view",
		table: "saved_views",
		columns: ["name", "search"],
		name: "t.name",
	},
	{
		kind: "invitation",
		table: "invitations",
		columns: ["email"],
		name: "t.email",
	},
	...[
		["enrollment_key", "enrollment_keys"],
		["enrollment_token", "enrollment_tokens"],
		["scim_credential", "scim_credentials"],
		["notification_channel", "notification_channels"],
		["identity_provider", "identity_providers"],
	].map(([kind = "", table = ""]) => ({
		kind,
		table,
		columns: ["name"],
		name: "t.name",
	})),
	{
		kind: "scim_group",
		table: "scim_groups",
		columns: ["display_name", "external_id"],
		name: "t.display_name",
	},
	{
		kind: "webhook",
		table: "webhooks",
		columns: ["url", "description"],
		name: "t.url",
	},
	{
		kind: "organization",
		table: "organizations",
		columns: ["name", "description"],
		name: "t.name",
	},
	{
		kind: "organization",
		table: "organization_closures",
		columns: ["reason"],
		id: "t.organization_id",
		name: "left(t.reason, 100)",
	},
];

/**
 * Lists everything that contains one of `wanted`, for example a description with the person's name.
 * Leaves out the record `except`.
 */
export async function readMentions(
	client: PoolClient,
	organizationId: string,
	wanted: readonly string[],
	except: string,
): Promise<Trace[]> {
	const selects = texts.map(
		({ kind, table, columns, name, id = "t.id" }) => `
		select '${kind}' as kind, ${id}::text as id, ${name} as name from ${table} t
		where t.${table === "organizations" ? "id" : "organization_id"} = $1 and ${id} <> $3
			and search_fold(concat_ws(' ', ${columns.map((column) => `t.${column}`).join(", ")}))
				like any (array(select search_pattern(w) from unnest($2::text[]) w))`,
	);
	// The role that erases cannot read all of these tables.
	const { rows } = await asApp(client, organizationId, () =>
		client.query<Trace>(`${selects.join(" union ")} order by kind, id, name`, [
			organizationId,
			wanted,
			except,
		]),
	);
	return rows;
}
