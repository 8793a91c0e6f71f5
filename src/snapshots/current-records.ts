import { COMPLIANCE, checkStates } from "../devices/check-states.ts";
import type { IdKind } from "../id.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { isLinkable } from "../records/link-kinds.ts";
import { ofLinked } from "../records/links.ts";
import { nameSql } from "../records/record-name.ts";
import { columnsOf, nameField, resultShape } from "../records/result-rows.ts";
import { recordKinds } from "../registers/all.ts";

/** The ids of the records linked to a record, and their names in the same order. */
const LINKED = ["linked_record_ids", "linked_record_names"] as const;

/** The fields of a device in a snapshot. `checks` has its state for each check that is required. */
const DEVICE_FIELDS = {
	id: "t.id",
	name: "t.name",
	hostname: "t.hostname",
	serial_number: "t.serial_number",
	platform: "t.platform",
	os_version: "t.os_version",
	status: "t.status",
	owner_id: "t.owner_id",
	owner_name: `(
		select p.full_name from people p where p.organization_id = t.organization_id and p.id = t.owner_id
	)`,
	enrolled_at: "t.enrolled_at",
	revoked_at: "t.revoked_at",
	compliance: "s.compliance",
	checks: "s.checks",
	created_at: "t.created_at",
	updated_at: "t.updated_at",
};

/**
 * Fields that a comparison leaves out: when a record was stored says nothing about what changed, and
 * a name beside an id changes when the other record is renamed.
 */
export const NOT_COMPARED: readonly string[] = [
	"updated_at",
	"linked_record_names",
	"owner_name",
	...new Set(
		recordKinds.flatMap(({ fields }) =>
			Object.entries(fields).flatMap(([name, { reference }]) =>
				reference ? [nameField(name)] : [],
			),
		),
	),
];

/** Returns the names of the fields that a record of the kind has in a snapshot taken now. */
export function fieldsOf(kind: IdKind): string[] {
	if (kind === "device") return Object.keys(DEVICE_FIELDS);
	const names = Object.keys(resultShape(register(kind)));
	return [
		...names.filter((name) => name !== "organization_id"),
		...(isLinkable(kind) ? LINKED : []),
	];
}

/**
 * Returns a query for all records of these kinds in the organization $1, with kind, id, name and
 * fields.
 */
export function currentRecords(kinds: readonly IdKind[]): string {
	return kinds
		.map((kind) =>
			kind === "device" ? CURRENT_DEVICES : registerRecords(register(kind)),
		)
		.join(" union all ");
}

function register(kind: IdKind): AnyRecordKind {
	const found = recordKinds.find((known) => known.kind === kind);
	if (!found) throw new Error(`${kind} is no register`);
	return found;
}

function registerRecords(kind: AnyRecordKind): string {
	const links = isLinkable(kind.kind)
		? `cross join lateral (
			select coalesce(array_agg(l.id order by l.id), '{}') as linked_record_ids,
				coalesce(array_agg(left(${ofLinked(({ nameOf }) => nameOf("t"))}, 1000) order by l.id), '{}')
					as linked_record_names
			from (
				select second_id as id, second_kind as kind from record_links
				where organization_id = $1 and first_id = t.id
				union all
				select first_id, first_kind from record_links
				where organization_id = $1 and second_id = t.id
			) l
		) linked`
		: "";
	const linked = links === "" ? "" : `, ${LINKED.join(", ")}`;
	return `
		select '${kind.kind}' as kind, r.id::text as id, left(r.snapshot_name, 1000) as name,
			${fieldsSql(kind)} as fields
		from (
			select ${columnsOf(kind)}, ${nameSql(kind, "t")} as snapshot_name ${linked}
			from ${kind.table} t ${links}
			where t.organization_id = $1
		) r`;
}

/** Returns SQL for the fields of a row `r`. Who uploaded a file is about a user, and not kept. */
function fieldsSql({ kind }: AnyRecordKind): string {
	const fields = "to_jsonb(r) - '{organization_id,snapshot_name}'::text[]";
	return kind === "evidence"
		? `(${fields}) #- '{file,uploaded_by}' #- '{file,has_content}'`
		: fields;
}

const CURRENT_DEVICES = `
	select 'device' as kind, t.id::text as id, left(coalesce(t.name, t.hostname), 1000) as name,
		jsonb_build_object(${Object.entries(DEVICE_FIELDS)
			.map(([name, sql]) => `'${name}', ${sql}`)
			.join(", ")}) as fields
	from devices t
	left join (
		select c.device_id, ${COMPLIANCE} as compliance, jsonb_object_agg(c.check_key, c.state) as checks
		from (${checkStates({})}) c
		group by c.device_id
	) s on s.device_id = t.id
	where t.organization_id = $1`;
