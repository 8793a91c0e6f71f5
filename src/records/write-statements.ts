import { type AnyRecordKind, oncePerKind } from "./kind.ts";
import { columnsOf } from "./result-rows.ts";

/** A prepared statement that stores a record. */
interface WriteStatement {
	name: string;
	text: string;
	/** Fields whose values follow the ids of the organization and of the record. */
	fields: readonly string[];
}

/**
 * Says what the statement answers. With "record", it returns the stored record as `columnsOf` lists
 * it. The columns read no other record of the same register, which the statement would not see.
 */
type Answer = "nothing" | "record";

const insertStatements = oncePerKind((kind) => ({
	nothing: insertsOf(kind, "nothing"),
	record: insertsOf(kind, "record"),
}));

/**
 * Returns the statement that adds a record. If `isNumbered`, the database chooses the reference id,
 * and stores no row if another transaction has just taken it.
 */
export function insertStatement(
	kind: AnyRecordKind,
	isNumbered: boolean,
	answer: Answer,
): WriteStatement {
	return insertStatements(kind)[answer][isNumbered ? "numbered" : "given"];
}

function insertsOf(kind: AnyRecordKind, answer: Answer) {
	const make = (isNumbered: boolean): WriteStatement => {
		const fields = storedFields(kind).filter(
			(name) => !(isNumbered && name === "reference_id"),
		);
		const columns = [...fields];
		const values = fields.map((_, index) => `$${index + 3}`);
		if (isNumbered) {
			columns.push("reference_id");
			values.push(
				`make_reference_id($1::typed_id, '${kind.table}', '${kind.referencePrefix}')`,
			);
		}
		return {
			name: `add.${kind.kind}${isNumbered ? ".numbered" : ""}${suffixOf(answer)}`,
			text: `insert into ${kind.table} as t (organization_id, id, ${columns.join(", ")}) values ($1, $2, ${values.join(", ")})
				${isNumbered ? `on conflict on constraint ${kind.table}_reference_id_key do nothing` : ""}
				${returning(kind, answer)}`,
			fields,
		};
	};
	return { given: make(false), numbered: make(true) };
}

/**
 * Returns the statement that adds several records with their reference ids. Its second parameter is
 * a JSON array of their ids and fields, because fields that are lists cannot be parts of an array.
 */
export const insertManyStatement = oncePerKind((kind) => {
	const fields = storedFields(kind);
	return {
		name: `add.${kind.kind}.many`,
		text: `insert into ${kind.table} (organization_id, id, ${fields.join(", ")})
			select $1, r.id, ${fields.map((name) => `r.${name}`).join(", ")}
			from jsonb_populate_recordset(null::${kind.table}, $2) r`,
		fields,
	};
});

const updateStatements = oncePerKind((kind) => {
	const make = (field: string, answer: Answer): WriteStatement => ({
		name: `update.${kind.kind}.${field}${suffixOf(answer)}`,
		text: `${updateText(kind, [field])} ${returning(kind, answer)}`,
		fields: [field],
	});
	return new Map(
		storedFields(kind).map((field) => [
			field,
			{ nothing: make(field, "nothing"), record: make(field, "record") },
		]),
	);
});

/**
 * Returns the statement that changes one stored field. Planning an update takes PostgreSQL half as
 * long as running it, so the service prepares it once for each connection.
 */
export function updateStatement(
	kind: AnyRecordKind,
	field: string,
	answer: Answer,
): WriteStatement {
	const found = updateStatements(kind).get(field);
	if (!found) throw new Error(`${kind.kind} stores no field ${field}`);
	return found[answer];
}

/** Returns the statement that changes several fields. Too many are possible to prepare them. */
export function updateText(
	kind: AnyRecordKind,
	fields: readonly string[],
): string {
	const assignments = fields.map((name, index) => `${name} = $${index + 3}, `);
	return `update ${kind.table} t set ${assignments.join("")}updated_at = now() where t.organization_id = $1 and t.id = $2`;
}

/** Returns the fields with a column that the service writes. */
export const storedFields = oncePerKind((kind): readonly string[] =>
	Object.entries(kind.fields)
		.filter(([, { given, join }]) => given !== "computed" && !join)
		.map(([name]) => name),
);

function suffixOf(answer: Answer): string {
	return answer === "record" ? ".row" : "";
}

function returning(kind: AnyRecordKind, answer: Answer): string {
	return answer === "record" ? `returning ${columnsOf(kind)}` : "";
}
