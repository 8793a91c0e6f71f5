import { z } from "zod";
import { AppError, type FieldIssue } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { outOfRegisters } from "../organizations/narrow-membership.ts";
import { recordKinds } from "../registers/all.ts";
import { outOfScope } from "../tokens/scopes.ts";
import { parseInput } from "../validation.ts";
import { idempotencyShape } from "./idempotency.ts";
import { shapeToAdd } from "./input.ts";
import { insertRecords } from "./insert-records.ts";
import { type AnyRecordKind, toolsetOf } from "./kind.ts";
import {
	findWanted,
	linkedShape,
	storeLinks,
	type WantedLinks,
} from "./link-new-records.ts";
import { organizationId } from "./list-pages.ts";
import { findRefused } from "./refused-values.ts";
import { namedKinds } from "./searchable-kinds.ts";
import { missingReference, noteStored } from "./store.ts";
import { findHolders, referenceKey } from "./taken-reference-ids.ts";
import { changeOf, prepareNew, type Values } from "./values.ts";

const MAX_RECORDS = 50;
/** Largest number of issues that an error names. */
const MAX_TOLD = 100;

const KINDS = recordKinds.map(({ kind }) => kind) as [string, ...string[]];

/**
 * A row. The schema takes every value, so that `readRows` can name all wrong rows at once. Clients
 * see the schema of an object.
 */
const row = z.unknown().meta({
	type: "object",
	propertyNames: { type: "string" },
	additionalProperties: {},
});

export const addRecords = defineOperation({
	name: "addRecords",
	title: "Add several records",
	description: `Add up to ${MAX_RECORDS} records of a kind in one call: all of them or, if one is wrong, none. The error names each wrong row.`,
	toolset: "bulk",
	access: "write",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		kind: z.enum(KINDS).describe("Kind of record"),
		records: z
			.array(row)
			.min(1)
			.max(MAX_RECORDS)
			.describe("Each with the fields of the add tool of the kind"),
		...idempotencyShape,
	}),
	output: z.object({
		records: z
			.array(z.object({ id: z.string(), name: z.string().nullable() }))
			.describe("In the given order"),
	}),
	run: async (context, input) => {
		const kind = recordKinds.find((known) => known.kind === input.kind);
		if (!kind) throw new Error(`there is no kind of record ${input.kind}`);
		const tool = {
			name: `add${kind.tool.one}`,
			toolset: toolsetOf(kind),
			isReadOnly: false,
		};
		const excluded =
			outOfScope(context.principal, tool) ??
			outOfRegisters(context.membership, tool);
		if (excluded) throw new AppError("forbidden", excluded);

		const { rows, issues } = readRows(kind, input.records);
		issues.push(...(await missingReferences(context, kind, rows)));
		issues.push(...(await takenReferenceIds(context, kind, rows)));
		issues.push(...(await refusedRows(context, kind, rows)));
		const linked = await findWanted(context, rows);
		rejectWrong([...issues, ...linked.issues], input.records.length);

		// Rows with a reference id are stored first. Otherwise a row without one might get the
		// reference id that a later row gives.
		const ids = new Map<Row, string>();
		const isNamed = ({ values }: Row) => values.reference_id !== undefined;
		const { named = [], numbered = [] } = Object.groupBy(rows, (row) =>
			isNamed(row) ? "named" : "numbered",
		);
		for (const group of [named, numbered]) {
			const list = group.map(({ values }) => values);
			const newIds = await insertRecords(context, kind, list);
			for (const [at, row] of group.entries()) ids.set(row, newIds[at] ?? "");
		}
		const stored = rows.map((row) => ({ id: ids.get(row) ?? "" }));
		const added = (await noteStored(context, kind, stored)).map((record) => {
			const { id, name } = changeOf(kind, undefined, record);
			return { id, name };
		});
		for (const [at, { ids: wanted }] of rows.entries()) {
			const record = added[at] ?? { id: "", name: null };
			const others = wanted.flatMap((id) => linked.found.get(id) ?? []);
			await storeLinks(context, { kind: kind.kind, ...record }, others);
		}
		return { records: added };
	},
});

/** A row that can be stored, unless a record that it names is missing. */
interface Row extends WantedLinks {
	/** Place in the input, such as `records[3]`. */
	place: string;
	values: Values;
}

function readRows(
	kind: AnyRecordKind,
	records: readonly unknown[],
): { rows: Row[]; issues: FieldIssue[] } {
	const schema = z.strictObject({
		...shapeToAdd(kind),
		...linkedShape(kind.kind),
	});
	const issues: FieldIssue[] = [];
	const rows = records.flatMap((record, at): Row[] => {
		const place = `records[${at}]`;
		try {
			const parsed: Values = parseInput(schema, record);
			const { linked_record_ids: ids = [], ...given } = parsed;
			const values = prepareNew(kind, given);
			const path = `${place}.linked_record_ids`;
			return [{ place, values, ids: ids as string[], path }];
		} catch (error) {
			if (!(error instanceof AppError) || !error.fields) throw error;
			for (const { field, message } of error.fields) {
				const path = [place, field].filter(Boolean).join(".");
				issues.push({ field: path, message });
			}
			return [];
		}
	});
	return { rows, issues };
}

/** Returns an issue for each record that a row refers to and that does not exist. */
async function missingReferences(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	rows: readonly Row[],
): Promise<FieldIssue[]> {
	const issues: FieldIssue[] = [];
	for (const [name, { reference }] of Object.entries(kind.fields)) {
		const target = namedKinds.find((known) => known.kind === reference);
		if (!reference || !target) continue;
		const named = rows.flatMap(({ place, values }) =>
			[values[name] ?? []].flat().map((id) => ({ place, id: String(id) })),
		);
		if (named.length === 0) continue;
		const { rows: found } = await client.query<{ id: string }>(
			`select t.id from ${target.table} t where t.organization_id = $1 and t.id = any($2) order by t.id for key share`,
			[membership.organizationId, [...new Set(named.map(({ id }) => id))]],
		);
		const there = new Set(found.map(({ id }) => id));
		for (const { place, id } of named) {
			if (there.has(id)) continue;
			issues.push(missingReference(`${place}.${name}`, reference, id));
		}
	}
	return issues;
}

/** Returns an issue for each reference id that another row or an existing record has. */
async function takenReferenceIds(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	rows: readonly Row[],
): Promise<FieldIssue[]> {
	if (!kind.referencePrefix) return [];
	const given = rows.filter(({ values }) => values.reference_id !== undefined);
	const holders = await findHolders(
		client,
		kind,
		membership.organizationId,
		given.map(({ values }) => String(values.reference_id)),
	);
	const used = new Map<string, string>();
	for (const key of holders.keys()) used.set(key, `another ${kind.noun}`);
	return given.flatMap(({ place, values: { reference_id } }) => {
		const key = referenceKey(reference_id);
		const holder = used.get(key);
		used.set(key, holder ?? place);
		return holder === undefined
			? []
			: {
					field: `${place}.reference_id`,
					message: `is already used by ${holder}; choose another, or leave it out to get the next free one`,
				};
	});
}

/** Returns an issue for each row that may not be added beside the existing records. */
async function refusedRows(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	rows: readonly Row[],
): Promise<FieldIssue[]> {
	const refused = await findRefused(
		client,
		kind,
		membership.organizationId,
		rows,
	);
	return rows.flatMap(({ place, values }) => {
		const issue = refused.get(values);
		return issue ? { ...issue, field: `${place}.${issue.field}` } : [];
	});
}

function rejectWrong(issues: readonly FieldIssue[], count: number): void {
	if (issues.length === 0) return;
	const fields = issues.slice(0, MAX_TOLD);
	const told = fields.map(({ field, message }) => `${field}: ${message}`);
	const more = issues.length - fields.length;
	if (more > 0) told.push(`and ${more} more`);
	const wrong = new Set(issues.map(({ field }) => /\d+/.exec(field)?.[0]));
	throw new AppError(
		"bad_request",
		`nothing was added, because ${wrong.size} of ${count} records are wrong: ${told.join("; ")}`,
		{ fields },
	);
}
