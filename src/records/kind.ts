import { z } from "zod";
import type { FieldIssue } from "../errors.ts";
import type { IdKind } from "../id.ts";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { type Due, dueFilters } from "./due-filters.ts";
import { article, type Field, idSchema } from "./field.ts";
import {
	byTime,
	type Filter,
	listInput,
	type Order,
	organizationId,
	readPage,
} from "./list-pages.ts";
import { columnsOf, findRecord, removeRecord, type Values } from "./store.ts";
import {
	changeOf,
	existing,
	mapFields,
	prepareNew,
	prepareUpdate,
	shapeToAdd,
	shapeToUpdate,
	storeNew,
	storeUpdate,
} from "./writing.ts";

export type Fields = Record<string, Field>;

/** A kind of record: what it is called, what it holds, what it may be listed by. */
export interface RecordKind<
	One extends string = string,
	Many extends string = string,
	Key extends string = string,
	Keys extends string = string,
	F extends Fields = Fields,
> {
	kind: IdKind;
	table: string;
	/** In names of tools: getRisk, listRisks. */
	tool: { one: One; many: Many };
	/** In results: {risk: …}, {risks: […]}. */
	key: { one: Key; many: Keys };
	/** In sentences: "a risk", "risks". */
	noun: string;
	nouns: string;
	/** What it is for, a sentence for a model that has to choose. */
	about: string;
	/** The field that people know it by. */
	title: (keyof F & string) | undefined;
	fields: F;
	/** Beside created_at and updated_at. */
	orders: Record<string, Order>;
	/** Names of fields to filter by their value, null included, and filters of other kinds. */
	filters: readonly (keyof F & string)[];
	otherFilters?: Record<string, Filter>;
	/** Where a record is to be done by a day; gives the filters for it. */
	due?: Due;
	/** `NC` where reference_id is made as NC-001. */
	referencePrefix?: string;
	/** Works out what was not given on add from what was. */
	complete?: (given: Values) => Values;
	/** What must hold between the fields of a record. */
	check?: (record: Values) => FieldIssue[];
}

type RecordShape<F extends Fields> = {
	id: z.ZodString;
	organization_id: z.ZodString;
	created_at: z.ZodString;
	updated_at: z.ZodString;
} & { [Name in keyof F]: F[Name]["output"] };

type AddShape<F extends Fields> = { organization_id: z.ZodString } & {
	[Name in keyof F as F[Name]["given"] extends "computed"
		? never
		: Name]: F[Name]["given"] extends "required"
		? F[Name]["input"]
		: z.ZodOptional<F[Name]["input"]>;
};

type UpdateShape<F extends Fields> = { id: z.ZodString } & {
	[Name in keyof F as F[Name]["given"] extends "computed"
		? never
		: Name]: z.ZodOptional<F[Name]["input"]>;
};

/** A kind of record as other modules use it, whatever its fields. */
export type AnyRecordKind = Omit<RecordKind, "title" | "filters" | "fields"> & {
	fields: Fields;
	title: string | undefined;
	filters: readonly string[];
};

/**
 * The five operations of a kind of record: list, get, add, update, delete. Its definition
 * is the one place where its fields are spelt.
 */
export function recordKind<
	const One extends string,
	const Many extends string,
	const Key extends string,
	const Keys extends string,
	F extends Fields,
>(definition: RecordKind<One, Many, Key, Keys, F>) {
	const kind = definition as unknown as AnyRecordKind;
	const { tool, key, noun, nouns, about } = definition;
	const a = article(noun);
	const toolset = toolsetOf(tool.many);

	const record = z.object({
		id: z.string(),
		organization_id: z.string(),
		...mapFields(kind.fields, ({ output, description }) =>
			output.describe(description),
		),
		created_at: z.string(),
		updated_at: z.string(),
	}) as unknown as z.ZodObject<RecordShape<F>>;
	const one = z.object({ [key.one]: record }) as unknown as z.ZodObject<
		Record<Key, typeof record>
	>;
	const id = idSchema(kind.kind).describe(`Id of the ${noun}`);
	const orders = {
		created_at: byTime("created_at"),
		updated_at: byTime("updated_at"),
		...kind.orders,
	};
	const filters = {
		...fieldFilters(kind),
		...(kind.due && dueFilters(kind.due)),
		...kind.otherFilters,
	};
	const columns = columnsOf(kind);

	const list = defineOperation({
		name: `list${tool.many}` as `list${Many}`,
		title: `List ${nouns}`,
		description: `List the ${nouns} of an organization, a page at a time, with text search, filters and order. ${about}`,
		toolset,
		access: "read",
		tenant: "organization_id",
		input: listInput(orders, filters),
		output: z.object({
			[key.many]: z.array(record),
			next_cursor: z.string().nullable(),
		}) as unknown as z.ZodObject<
			Record<Keys, z.ZodArray<typeof record>> & {
				next_cursor: z.ZodNullable<z.ZodString>;
			}
		>,
		run: async ({ client }, input) => {
			const page = await readPage(
				client,
				{
					tool: `list${tool.many}`,
					columns,
					from: `${kind.table} t`,
					searched: kind.table,
					orders,
					filters,
				},
				input,
			);
			return {
				[key.many]: page.rows,
				next_cursor: page.next_cursor,
			} as never;
		},
	});

	const get = defineOperation({
		name: `get${tool.one}` as `get${One}`,
		title: `Get ${a}`,
		description: `Read ${a} with all its fields by its id.`,
		toolset,
		access: "read",
		tenant: "id",
		input: z.strictObject({ id }),
		output: one,
		run: async ({ client, membership }, input) => {
			const found = await findRecord(
				client,
				kind,
				membership.organizationId,
				input.id,
			);
			if (!found) throw notFound(input.id);
			return { [key.one]: found } as never;
		},
	});

	const add = defineOperation({
		name: `add${tool.one}` as `add${One}`,
		title: `Add ${a}`,
		description: `Add ${a} to an organization. Gives the whole record. ${about}`,
		toolset,
		access: "write",
		tenant: "organization_id",
		input: z.strictObject({
			organization_id: organizationId(),
			...shapeToAdd(kind),
		}) as unknown as z.ZodObject<AddShape<F>>,
		output: one,
		run: async (context, input) => {
			const { organization_id: _, ...given } = input as unknown as Values;
			const values = prepareNew(kind, given);
			const added = await storeNew(context, kind, values);
			return { [key.one]: added } as never;
		},
	});

	const update = defineOperation({
		name: `update${tool.one}` as `update${One}`,
		title: `Update ${a}`,
		description: `Change fields of ${a}: only those given; null clears one that may be empty. Gives the whole record.`,
		toolset,
		access: "write",
		isIdempotent: true,
		tenant: "id",
		input: z.strictObject({
			id,
			...shapeToUpdate(kind),
		}) as unknown as z.ZodObject<UpdateShape<F>>,
		output: one,
		run: async (context, input) => {
			const { id: recordId, ...rest } = input as unknown as Values & {
				id: string;
			};
			const before = await existing(context, kind, recordId, "for update");
			const different = prepareUpdate(kind, before, rest);
			if (Object.keys(different).length === 0) {
				return { [key.one]: before } as never;
			}
			const after = await storeUpdate(context, kind, before, different);
			return { [key.one]: after } as never;
		},
	});

	const remove = defineOperation({
		name: `delete${tool.one}` as `delete${One}`,
		title: `Delete ${a}`,
		description: `Delete ${a} for good, with its links. Refused while other records use it.`,
		toolset,
		access: "admin",
		isDestructive: true,
		isIdempotent: true,
		tenant: "id",
		input: z.strictObject({ id }),
		output: z.object({
			[`deleted_${key.one}_id`]: z.string(),
		}) as unknown as z.ZodObject<Record<`deleted_${Key}_id`, z.ZodString>>,
		run: async (context, input) => {
			const before = await existing(context, kind, input.id, "for update");
			const deleted = changeOf(kind, before, undefined);
			// Links know every kind of record, and these know this file: hence not before.
			const { noteLostLinks } = await import("./links.ts");
			Object.assign(deleted.fields, await noteLostLinks(context, deleted));
			await removeRecord(
				context.client,
				kind,
				context.membership.organizationId,
				input.id,
			);
			context.changed(deleted);
			return { [`deleted_${key.one}_id`]: input.id } as never;
		},
	});

	return {
		definition: kind,
		operations: [list, get, add, update, remove] as const,
	};
}

/** `ContinualImprovements` → `continual_improvements`. */
function toolsetOf(many: string): string {
	return many.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

function fieldFilters(kind: AnyRecordKind): Record<string, Filter> {
	return Object.fromEntries(
		kind.filters.map((name): [string, Filter] => {
			const field = kind.fields[name];
			if (!field) throw new Error(`${kind.kind} has no field ${name}`);
			const filter: Filter = {
				schema: field.input.describe(
					`With this ${name}${field.initial === null ? "; null: with none" : ""}`,
				),
				sql: (parameter) => `t.${name} = ${parameter}`,
				whenNull: `t.${name} is null`,
			};
			return [name, filter];
		}),
	);
}
