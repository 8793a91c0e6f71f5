import { statusAt } from "../devices/device-record.ts";
import { recordKinds } from "../registers/all.ts";
import type { Field, ReferenceTable } from "./field.ts";
import type { AnyRecordKind } from "./kind.ts";

/** A table whose rows the service also knows as they were in the past. */
interface PastTable {
	table: string;
	/** Returns a statement that selects the rows at a moment, with the columns of the table. */
	rowsAt: (moment: string) => string;
}

/** Types of columns that are not text, by the type of the field. */
const COLUMN_TYPES: Partial<Record<Field["type"], string>> = {
	date: "date",
	datetime: "timestamptz",
	reference: "typed_id",
};

/**
 * Selects the rows that are valid since the moment or earlier, and the versions that were valid at
 * the moment. PostgreSQL looks up single rows in the indexes of both tables.
 */
function makePastTable(
	table: string,
	since: "updated_at" | "created_at",
	columns: Record<string, string>,
	fields = "",
): PastTable {
	const names = Object.keys(columns);
	const present = names.map((name) => `c.${name}`).join(", ");
	const past = names.map((name) => `${columns[name]} as ${name}`).join(", ");
	return {
		table,
		rowsAt: (moment) => `
			select ${present} from public.${table} c where c.${since} <= ${moment}
			union all
			select ${past} from record_versions v ${fields}
			where v.register = '${table}' and v.valid_from <= ${moment} and v.valid_to > ${moment}`,
	};
}

function recordsAsOf(kind: AnyRecordKind): PastTable {
	const stored = Object.entries(kind.fields).filter(([, { join }]) => !join);
	const names = stored.map(([name]) => name);
	const columns = {
		organization_id: "v.organization_id",
		id: "v.record_id",
		...Object.fromEntries(
			[...names, "created_at", "updated_at"].map((name) => [name, `f.${name}`]),
		),
		...Object.fromEntries(
			orderedTexts(kind).map((name) => [
				`${name}_key`,
				`(sort_key(f.${name}) collate "C")`,
			]),
		),
		search_text: searchText(kind),
	};
	const values = stored.map(([name, field]) => [name, pastValue(name, field)]);
	for (const name of ["created_at", "updated_at"]) {
		values.push([name, `(v.fields ->> '${name}')::timestamptz`]);
	}
	const list = values.map(([name, sql]) => `${sql} as ${name}`).join(", ");
	const fields = `cross join lateral (select ${list}) f`;
	return makePastTable(kind.table, "updated_at", columns, fields);
}

/**
 * Returns SQL for a field of a version. PostgreSQL computes only the fields that a statement uses.
 * Making the whole row from the JSON takes four times as long for a count by four fields. The types
 * must be those of the columns, or PostgreSQL would not use the indexes of the register.
 */
function pastValue(name: string, field: Field): string {
	const { initial, column, type } = field;
	const isList = Array.isArray(initial) || type === "checks";
	const sqlType = isList ? "text[]" : (column ?? COLUMN_TYPES[type] ?? "text");
	const value = isList
		? `case jsonb_typeof(v.fields -> '${name}') when 'array' then array(select jsonb_array_elements_text(v.fields -> '${name}')) end`
		: `(v.fields ->> '${name}')::${sqlType}`;
	if (initial === undefined || initial === null) return value;
	// A field that is newer than a version has its initial value there. A list begins empty.
	const literal = Array.isArray(initial)
		? "{}"
		: String(initial).replaceAll("'", "''");
	return `case when v.fields ? '${name}' then ${value} else '${literal}'::${sqlType} end`;
}

/** Returns the fields with a column `…_key` that lists are ordered or filtered by. */
function orderedTexts({ orders, fields, filters }: AnyRecordKind): string[] {
	const ordered = Object.values(orders).flatMap(
		({ expression }) => /^t\.(\w+)_key$/.exec(expression)?.[1] ?? [],
	);
	const filtered = filters.filter((name) => fields[name]?.type === "name");
	return [...new Set([...ordered, ...filtered])];
}

/** Returns SQL for the texts of a record that a search compares with its words. */
function searchText({ fields }: AnyRecordKind): string {
	const ofType = (...types: string[]) =>
		Object.keys(fields)
			.filter((name) => types.includes(fields[name]?.type ?? ""))
			.map((name) => `f.${name}`);
	const texts = ofType("name", "text", "url", "email").join(", ");
	const lists = ofType("names", "emails").map((list) => ` || ${list}`);
	return `search_text(variadic array[${texts}]::text[]${lists.join("")})`;
}

function referencesAsOf(
	{ kind }: AnyRecordKind,
	{ table, column }: ReferenceTable,
): PastTable {
	return makePastTable(table, "created_at", {
		organization_id: "v.organization_id",
		[`${kind}_id`]: "v.record_id",
		[column]: "v.other_id",
	});
}

function linksAsOf(): PastTable {
	return makePastTable("record_links", "created_at", {
		organization_id: "v.organization_id",
		first_id: "v.record_id",
		second_id: "v.other_id",
		first_kind: "v.fields ->> 'first_kind'",
		second_kind: "v.fields ->> 'second_kind'",
		created_at: "v.valid_from",
	});
}

/**
 * A table whose rows seldom change after their time. The past keeps the rows that were changed or
 * deleted since.
 */
interface KeptParts {
	table: string;
	/** The column of the row that they belong to. */
	of: string;
	columns: readonly string[];
	/** Returns a condition: the row was there at the moment, as it is. */
	wasThere: (moment: string) => string;
	/** Columns that may have had another value at the moment, with SQL of that value. */
	valueAt?: Record<string, (moment: string) => string>;
}

function partsAsOf({
	table,
	of,
	columns,
	wasThere,
	valueAt = {},
}: KeptParts): PastTable {
	const list = (row: string) => columns.map((name) => `${row}.${name}`).join();
	const read = columns.map((name) => {
		const value = valueAt[name];
		return (moment: string) =>
			value ? `${value(moment)} as ${name}` : `c.${name}`;
	});
	return {
		table,
		rowsAt: (moment) => `
			select c.organization_id, c.id, c.${of}, ${read.map((sql) => sql(moment)).join()}
			from (
				select p.organization_id, p.id, p.${of}, ${list("p")} from public.${table} p
				union all
				select v.organization_id, v.record_id, v.other_id, ${list("p")}
				from record_versions v
				cross join lateral jsonb_populate_record(null::public.${table}, v.fields) p
				where v.register = '${table}' and v.valid_to > ${moment}
			) c (organization_id, id, ${of}, ${columns.join()})
			where ${wasThere(moment)}`,
	};
}

/** The versions of documents that were published at the moment, and the open ones as they were then. */
const documentVersions: KeptParts = {
	table: "document_versions",
	of: "document_id",
	columns: [
		"version_number",
		"status",
		"title",
		"content",
		"changelog",
		"asks_again",
		"author_id",
		"author_name",
		"editor_ids",
		"created_at",
		"updated_at",
		"published_at",
		"published_by_name",
		"content_hash",
	],
	wasThere: (moment) =>
		`c.published_at <= ${moment} or (c.published_at is null and c.updated_at <= ${moment})`,
};

const documentApprovals: KeptParts = {
	table: "document_approvals",
	of: "version_id",
	columns: [
		"person_id",
		"person_name",
		"user_id",
		"user_name",
		"decision",
		"is_current",
		"note",
		"decided_at",
	],
	wasThere: (moment) => `c.decided_at <= ${moment}`,
};

/** Returns SQL of a column that was null until a time. */
const since = (column: string, at: string) => (moment: string) =>
	`case when c.${at} <= ${moment} then c.${column} end`;

/** The requests to sign that were made by the moment. A later signature was not given then. */
const documentSignatures: KeptParts = {
	table: "document_signatures",
	of: "version_id",
	columns: [
		"person_id",
		"person_name",
		"state",
		"requested_by_name",
		"requested_at",
		"signed_at",
		"way",
		"user_id",
		"user_name",
		"address",
		"content_hash",
		"link_copied_at",
		"link_copied_by_name",
		"reminded_at",
		"mailed_to",
		"address_set_by_name",
		"address_set_at",
		"is_address_doubtful",
	],
	wasThere: (moment) => `c.requested_at <= ${moment}`,
	valueAt: {
		state: (moment) =>
			`case when c.signed_at <= ${moment} then 'SIGNED' else 'REQUESTED' end`,
		signed_at: since("signed_at", "signed_at"),
		way: since("way", "signed_at"),
		user_id: (moment) => `(${since("user_id", "signed_at")(moment)})::typed_id`,
		user_name: since("user_name", "signed_at"),
		address: since("address", "signed_at"),
		content_hash: since("content_hash", "signed_at"),
		link_copied_at: since("link_copied_at", "link_copied_at"),
		link_copied_by_name: since("link_copied_by_name", "link_copied_at"),
		reminded_at: since("reminded_at", "reminded_at"),
		mailed_to: since("mailed_to", "signed_at"),
		address_set_by_name: since("address_set_by_name", "signed_at"),
		address_set_at: since("address_set_at", "signed_at"),
		is_address_doubtful: (moment) =>
			`coalesce(c.is_address_doubtful and c.signed_at <= ${moment}, false)`,
	},
};

const applicabilityStatements: KeptParts = {
	table: "applicability_statements",
	of: "framework_id",
	columns: [
		"version_number",
		"framework_name",
		"framework_version",
		"controls",
		"sha256",
		"note",
		"approved_by_name",
		"created_at",
		"check_counts",
	],
	wasThere: (moment) => `c.created_at <= ${moment}`,
};

/**
 * Selects the devices that were there, with the status that they had. Their other columns are those
 * of today, because devices have no versions.
 */
function devicesAsOf(): PastTable {
	return {
		table: "devices",
		rowsAt: (moment) => `
			select t.organization_id, t.id, t.name, t.hostname, t.serial_number, t.platform, t.owner_id,
				${statusAt(moment)} as status, t.created_at, t.updated_at, t.search_text
			from public.devices t where t.created_at <= ${moment}`,
	};
}

/**
 * Selects the count of device checks on the day whose end is nearest to the moment. It stands for the
 * last count.
 */
function checkCountsAsOf(): PastTable {
	return {
		table: "check_count_days",
		rowsAt: (moment) => `
			select k.organization_id, k.day, ${moment} as counted_at, k.counts, k.compliance
			from public.check_count_days k
			where k.day = ((${moment} - interval '12 hours') at time zone 'UTC')::date`,
	};
}

/** Every register, the links between records, and the references that are rows of their own. */
export const tablesAsOf: readonly PastTable[] = [
	...recordKinds.map(recordsAsOf),
	...recordKinds.flatMap((kind) =>
		Object.values(kind.fields).flatMap(({ join }) =>
			join ? [referencesAsOf(kind, join)] : [],
		),
	),
	linksAsOf(),
	...[
		documentVersions,
		documentApprovals,
		documentSignatures,
		applicabilityStatements,
	].map(partsAsOf),
	devicesAsOf(),
	checkCountsAsOf(),
];
