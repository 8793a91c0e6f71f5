import type { PoolClient } from "pg";
import { FOREIGN_KEY_VIOLATION, UNIQUE_VIOLATION } from "../db/sqlstate.ts";
import { badFields, type FieldIssue } from "../errors.ts";
import { type IdKind, kindNoun } from "../id.ts";
import type { RecordKind } from "./kind.ts";

/** A record as rows and calls have it: its fields by name, with id and times. */
export type Values = Record<string, unknown>;

type AnyKind = Pick<
	RecordKind,
	"kind" | "table" | "fields" | "referencePrefix" | "noun"
>;

/** What `select` has to read of a row `t`; lists of references come from their own table. */
export function columnsOf(kind: AnyKind): string {
	const fields = Object.entries(kind.fields).map(([name, { join }]) =>
		join
			? `array(
				select j.${join.column} from ${join.table} j
				where j.organization_id = t.organization_id and j.${ownerColumn(kind)} = t.id
				order by j.${join.column}
			)::text[] as ${name}`
			: `t.${name}`,
	);
	return [
		"t.id",
		"t.organization_id",
		...fields,
		"t.created_at",
		"t.updated_at",
	].join(", ");
}

export async function findRecord(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	id: string,
	lock: "" | "for update" = "",
): Promise<Values | undefined> {
	const { rows } = await client.query({
		name: `get.${kind.kind}${lock && ".lock"}`,
		text: `select ${columnsOf(kind)} from ${kind.table} t where t.organization_id = $1 and t.id = $2 ${lock && "for update of t"}`,
		values: [organizationId, id],
	});
	return rows[0];
}

/** These records, by id; one that does not exist is left out. */
export async function findRecords(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	ids: string[],
): Promise<Map<string, Values>> {
	const { rows } = await client.query({
		name: `get.${kind.kind}.many`,
		text: `select ${columnsOf(kind)} from ${kind.table} t where t.organization_id = $1 and t.id = any($2)`,
		values: [organizationId, ids],
	});
	return new Map(rows.map((row) => [row.id, row]));
}

/** Stores a new record; throws bad_request naming a reference that does not exist or a value already taken. */
export async function insertRecord(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<void> {
	const columns = storedColumns(kind);
	const isNumbered =
		kind.referencePrefix !== undefined && values.reference_id === undefined;
	const placeholders = columns.map((_, index) => `$${index + 3}`);
	const insert = () =>
		client.query({
			name: `add.${kind.kind}${isNumbered ? ".numbered" : ""}`,
			text: `insert into ${kind.table} (organization_id, id, ${columns.join(", ")}) values ($1, $2, ${placeholders.join(", ")})
				${isNumbered ? `on conflict on constraint ${kind.table}_reference_id_key do nothing` : ""}`,
			values: [organizationId, id, ...columns.map((name) => values[name])],
		});
	await explaining(kind, values, async () => {
		let isStored = false;
		while (!isStored) {
			if (isNumbered) {
				values.reference_id = await makeReferenceId(
					client,
					kind,
					organizationId,
				);
			}
			// None when somebody takes the number by hand meanwhile: then the next one.
			isStored = (await insert()).rowCount === 1;
		}
		await storeJoins(client, kind, organizationId, id, values);
	});
}

/** Stores the fields in `values`, of which there is at least one. */
export async function updateRecord(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<void> {
	const columns = storedColumns(kind).filter((name) => name in values);
	const assignments = columns.map((name, index) => `${name} = $${index + 3}, `);
	await explaining(kind, values, async () => {
		await client.query(
			`update ${kind.table} set ${assignments.join("")}updated_at = now() where organization_id = $1 and id = $2`,
			[organizationId, id, ...columns.map((name) => values[name])],
		);
		await storeJoins(client, kind, organizationId, id, values);
	});
}

/** Removes a record and its links; throws bad_request that says what still uses it. */
export async function removeRecord(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	id: string,
): Promise<void> {
	await client.query("savepoint removal");
	try {
		await client.query(
			`delete from ${kind.table} where organization_id = $1 and id = $2`,
			[organizationId, id],
		);
	} catch (error) {
		if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION)
			throw error;
		await client.query("rollback to savepoint removal");
		const users = await usersOf(client, kind, organizationId, id);
		throw badFields([
			{
				field: "id",
				message: `the ${kind.noun} is still used (${users}); change or delete what uses it first`,
			},
		]);
	}
}

/** "risks: 3, tasks: 1": what refers to the record, found by the foreign keys that point at its table. */
async function usersOf(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	id: string,
): Promise<string> {
	// A table of references says in its comment what its rows stand for.
	const { rows: keys } = await client.query<{
		table: string;
		column: string;
		label: string;
	}>(
		`select
			c.conrelid::regclass::text as table,
			a.attname as column,
			coalesce(obj_description(c.conrelid, 'pg_class'), c.conrelid::regclass::text) as label
		from pg_constraint c
		join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[2]
		where c.contype = 'f' and c.confrelid = $1::regclass and c.confdeltype = 'a'
		order by label`,
		[kind.table],
	);
	const counts = await Promise.all(
		keys.map(async ({ table, column, label }) => {
			const { rows } = await client.query<{ count: number }>(
				`select count(*)::int as count from ${table} where organization_id = $1 and ${column} = $2`,
				[organizationId, id],
			);
			return { label, count: rows[0]?.count ?? 0 };
		}),
	);
	const users = counts
		.filter(({ count }) => count > 0)
		.map(({ label, count }) => `${label.replaceAll("_", " ")}: ${count}`);
	return users.join(", ");
}

function storedColumns(kind: AnyKind): string[] {
	return Object.entries(kind.fields)
		.filter(([, field]) => field.given !== "computed" && !field.join)
		.map(([name]) => name);
}

function ownerColumn(kind: AnyKind): string {
	return `${kind.kind}_id`;
}

async function storeJoins(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
	id: string,
	values: Values,
): Promise<void> {
	for (const [name, { join, reference }] of Object.entries(kind.fields)) {
		const ids = values[name];
		if (!join || !reference || !Array.isArray(ids)) continue;
		// Asked, not left to the foreign key: that does not say which of them is missing. Locked,
		// so that none is deleted before this transaction ends.
		const { rows: found } = await client.query<{ id: string }>(
			`select r.id from ${join.of} r where r.organization_id = $1 and r.id = any($2) order by r.id for key share`,
			[organizationId, ids],
		);
		const there = new Set(found.map(({ id }) => id));
		const missing = ids.map(String).filter((id) => !there.has(id));
		if (missing.length > 0) {
			throw badFields(
				missing.map((id) => missingReference(name, reference, id)),
			);
		}
		await client.query(
			`delete from ${join.table} where organization_id = $1 and ${ownerColumn(kind)} = $2`,
			[organizationId, id],
		);
		await client.query(
			`insert into ${join.table} (organization_id, ${ownerColumn(kind)}, ${join.column}) select $1, $2, unnest($3::text[])`,
			[organizationId, id, ids],
		);
	}
}

/** The next of NC-001, NC-002 … that nobody has taken by hand. */
async function makeReferenceId(
	client: PoolClient,
	kind: AnyKind,
	organizationId: string,
): Promise<string> {
	const { rows } = await client.query<{ reference_id: string }>(
		"select make_reference_id($1, $2, $3) as reference_id",
		[organizationId, kind.table, kind.referencePrefix],
	);
	return rows[0]?.reference_id ?? "";
}

/** Runs `work`, giving what the database refuses the name of the field at fault. */
async function explaining(
	kind: AnyKind,
	values: Values,
	work: () => Promise<void>,
): Promise<void> {
	try {
		await work();
	} catch (thrown) {
		const error = thrown as {
			code?: string;
			constraint?: string;
		};
		const found = Object.entries(kind.fields).find(
			([name]) => error.constraint === constraintOf(kind, name),
		);
		if (found && error.code === FOREIGN_KEY_VIOLATION) {
			const [name, { reference = "organization" }] = found;
			throw badFields([
				missingReference(name, reference, String(values[name])),
			]);
		}
		if (
			error.code === UNIQUE_VIOLATION &&
			error.constraint === `${kind.table}_reference_id_key`
		) {
			throw badFields([
				{
					field: "reference_id",
					message: `is already used by another ${kind.noun}; choose another or leave it out to get the next free one`,
				},
			]);
		}
		throw thrown;
	}
}

export function missingReference(
	field: string,
	kind: IdKind,
	id: string,
): FieldIssue {
	return {
		field,
		message: `there is no ${kindNoun(kind)} ${id} in this organization`,
	};
}

/** Foreign keys are named `<table>_<column>_fkey`. */
function constraintOf(kind: AnyKind, name: string): string {
	return `${kind.table}_${name}_fkey`;
}
