import type { Client } from "pg";
import { escapeIdentifier, escapeLiteral } from "pg";
import { z } from "zod";
import { makeId, makeOrganizationId } from "../src/id.ts";
import type { Field } from "../src/records/field.ts";
import type { AnyRecordKind } from "../src/records/kind.ts";
import { insertToken } from "./mcp-seed.ts";

const ROWS = 20_000;
const PEOPLE = 50;
const CATEGORIES = 40;
const FRAMEWORKS = 6;
const CONTROLS = 1_200;
const THINGS = ["laptop", "server", "backup", "supplier", "building", "key"];
const HARMS = ["theft", "loss", "outage", "fire", "mistake", "takeover"];

export interface FilledOrganization {
	id: string;
	/** An API token of its administrator. */
	token: string;
	/** Ids of its people, who are the owners of the records. */
	people: string[];
	/** Number of records of each kind. */
	records: number;
	/** Ids of its frameworks. */
	frameworks: string[];
}

/** Makes an organization with people and an administrator, and `records` records of each kind. */
export async function fillOrganization(
	client: Client,
	kinds: readonly AnyRecordKind[],
	records: number,
): Promise<FilledOrganization> {
	const id = makeOrganizationId();
	await client.query("insert into organizations (id, name) values ($1, $2)", [
		id,
		`Organization of ${records}`,
	]);
	const token = await insertToken(client, id, "admin");
	const people = Array.from({ length: PEOPLE }, () => makeId(id, "people"));
	await client.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		select $1, id, 'Person ' || n, 'person' || n || '@example.com', 'EMPLOYEE'
		from unnest($2::text[]) with ordinality p (id, n)`,
		[id, people],
	);
	for (const kind of kinds) {
		for (let at = 0; at < records; at += ROWS) {
			await insertRecords(client, kind, id, {
				people,
				first: at,
				count: Math.min(ROWS, records - at),
			});
		}
	}
	const frameworks = await insertFrameworks(client, id);
	for (const kind of kinds) await insertPast(client, kind, id);
	return { id, token, people, records, frameworks };
}

/** Makes frameworks as large as the largest catalogs. Each control is linked to some measures. */
async function insertFrameworks(
	client: Client,
	organization: string,
): Promise<string[]> {
	const idsOf = (kind: "framework" | "control" | "measure", count: number) =>
		Array.from({ length: count }, () => makeId(organization, kind));
	const frameworks = idsOf("framework", FRAMEWORKS);
	await client.query(
		`insert into frameworks (organization_id, id, name)
		select $1, id, 'Framework ' || n from unnest($2::text[]) with ordinality f (id, n)`,
		[organization, frameworks],
	);
	const controls = idsOf("control", FRAMEWORKS * CONTROLS);
	await client.query(
		`insert into controls (organization_id, id, framework_id, section_title, name)
		select $1, id, ($3::text[])[1 + n % ${FRAMEWORKS}], 'Section ' || n % 20, 'Control ' || n
		from unnest($2::text[]) with ordinality c (id, n)`,
		[organization, controls, frameworks],
	);
	await client.query(
		`with measures as (
			insert into measures (organization_id, id, name, category, state)
			select $1, id, 'Measure ' || n, 'Category', case when n % 3 = 0 then 'IMPLEMENTED' else 'IN_PROGRESS' end
			from unnest($3::text[]) with ordinality m (id, n)
			returning id, substring(name from 9)::integer as n
		)
		insert into record_links (organization_id, first_id, second_id, first_kind, second_kind)
		select $1, least(c.id, m.id), greatest(c.id, m.id),
			case when c.id < m.id then 'control' else 'measure' end,
			case when c.id < m.id then 'measure' else 'control' end
		from unnest($2::text[]) with ordinality c (id, n)
		join measures m on m.n in (c.n, c.n + 1, c.n + 2)`,
		[organization, controls, idsOf("measure", controls.length)],
	);
	return frameworks;
}

/**
 * Gives each record a former state, as the trigger of the register writes it: one after the other, in
 * the order of the changes.
 */
async function insertPast(
	client: Client,
	{ table }: AnyRecordKind,
	organization: string,
): Promise<void> {
	await client.query(
		`insert into record_versions (organization_id, register, record_id, valid_from, valid_to, fields)
		select t.organization_id, '${table}', t.id, least(t.created_at, t.updated_at) - interval '1 day',
			t.updated_at, to_jsonb(t) - '{organization_id,id,search_text,name_key,category_key}'::text[]
		from ${table} t where t.organization_id = $1
		order by t.updated_at`,
		[organization],
	);
	await client.query(
		"update organizations set records_known_since = '2020-01-01' where id = $1",
		[organization],
	);
}

async function insertRecords(
	client: Client,
	kind: AnyRecordKind,
	organization: string,
	rows: { people: string[]; first: number; count: number },
): Promise<void> {
	const columns = Object.entries(kind.fields).flatMap(([name, field]) => {
		const expression = expressionOf(kind, name, field);
		return expression ? [[escapeIdentifier(name), expression] as const] : [];
	});
	await client.query(
		`insert into ${kind.table} (
			organization_id, id, created_at, updated_at, ${columns.map(([name]) => name).join(", ")}
		)
		select
			$1, id, now() - n * interval '1 minute', now() - n * 7 % 100000 * interval '1 minute',
			${columns.map(([, expression]) => expression).join(", ")}
		from (
			select id, (n + $4)::integer as n, $3::text[] as people
			from unnest($2::text[]) with ordinality r (id, n)
		) r`,
		[
			organization,
			Array.from({ length: rows.count }, () => makeId(organization, kind.kind)),
			rows.people,
			rows.first,
		],
	);
}

/**
 * Returns an SQL expression for the field of the record with the number `n`, or undefined if the
 * database gives the field its value. The fields of a record do not depend on each other. Only its
 * dates follow each other, because a register may demand their order.
 */
function expressionOf(
	kind: AnyRecordKind,
	name: string,
	field: Field,
): string | undefined {
	if (field.given === "computed" || field.join) return undefined;
	const salt = Object.keys(kind.fields).indexOf(name);
	const random = (limit: number, part = 0) =>
		randomBelow(limit, 10 * salt + part);
	switch (field.type) {
		case "choice": {
			const choices = choicesOf(field).map((one) => escapeLiteral(one));
			return `(array[${choices.join(", ")}])[1 + ${random(choices.length)}]`;
		}
		case "name":
		case "text": {
			if (name === "reference_id") return "'REF-' || n";
			// A short text that lists can be filtered by occurs many times.
			if (kind.filters.includes(name))
				return `'Category ' || ${random(CATEGORIES)}`;
			const [things, harms] = [THINGS, HARMS].map(
				(words) => `(array[${words.map((one) => `'${one}'`).join(", ")}])`,
			);
			return `${things}[1 + ${random(THINGS.length)}] || ' ' || ${harms}[1 + ${random(HARMS.length, 1)}] || ' ' || n`;
		}
		case "date":
			return `case when ${random(4)} > 0 then current_date + ${randomBelow(800, 0)} - 600 + ${salt} end`;
		case "integer":
			return `1 + ${random(5)}`;
		case "reference":
			return field.reference === "people"
				? `case when ${random(5)} > 0 or ${field.given === "required"} then people[1 + ${random(PEOPLE, 1)}] end`
				: undefined;
		default:
			return undefined;
	}
}

/** Returns an SQL expression for a number below `limit` that looks random, another for each part. */
function randomBelow(limit: number, part: number): string {
	return `((hashint4(n + ${1_000_003 * part}) & 2147483647) % ${limit})`;
}

/** Returns the values that a choice permits, without null. */
export function choicesOf({ input }: Field): string[] {
	const schema = z.toJSONSchema(input, { io: "input" });
	const choices = [schema, ...(schema.anyOf ?? [])].flatMap(
		(one) => one.enum ?? [],
	);
	return choices.filter((one) => typeof one === "string");
}
