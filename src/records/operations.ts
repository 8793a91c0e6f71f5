import { z } from "zod";
import { notFound } from "../invoke.ts";
import { defineOperation, type Operation } from "../operation.ts";
import { mapFields, shapeToAdd, shapeToUpdate } from "./input.ts";
import type { AnyRecordKind, Fields, RecordKind } from "./kind.ts";
import { noteLostLinks } from "./links.ts";
import {
	byTime,
	type Filter,
	type Listing,
	listInput,
	organizationId,
	readPage,
} from "./list-pages.ts";
import { dueFilters } from "./range-filters.ts";
import { removeRecord } from "./removal.ts";
import {
	columnsOf,
	existing,
	findRecord,
	insertRecord,
	noteStored,
	updateRecord,
} from "./store.ts";
import { article, idSchema } from "./text-schemas.ts";
import { changeOf, prepareNew, prepareUpdate } from "./values.ts";

type RecordSchema<F extends Fields> = z.ZodObject<
	{
		id: z.ZodString;
		organization_id: z.ZodString;
		created_at: z.ZodString;
		updated_at: z.ZodString;
	} & { [Name in keyof F]: F[Name]["output"] }
>;

type AddInput<F extends Fields> = z.ZodObject<
	{ organization_id: z.ZodString } & {
		[Name in keyof F as F[Name]["given"] extends "computed"
			? never
			: Name]: F[Name]["given"] extends "required"
			? F[Name]["input"]
			: z.ZodOptional<F[Name]["input"]>;
	}
>;

type UpdateInput<F extends Fields> = z.ZodObject<
	{ id: z.ZodString } & {
		[Name in keyof F as F[Name]["given"] extends "computed"
			? never
			: Name]: z.ZodOptional<F[Name]["input"]>;
	}
>;

type IdInput = z.ZodObject<{ id: z.ZodString }>;
type OneOutput<Key extends string, F extends Fields> = z.ZodObject<
	Record<Key, RecordSchema<F>>
>;

/** The types of a register's operations. They follow from its definition. */
export type RecordOperations<
	One extends string,
	Many extends string,
	Key extends string,
	Keys extends string,
	F extends Fields,
> = readonly [
	Operation<
		`list${Many}`,
		ReturnType<typeof listInput>,
		z.ZodObject<
			Record<Keys, z.ZodArray<RecordSchema<F>>> & {
				next_cursor: z.ZodNullable<z.ZodString>;
			}
		>
	>,
	Operation<`get${One}`, IdInput, OneOutput<Key, F>>,
	Operation<`add${One}`, AddInput<F>, OneOutput<Key, F>>,
	Operation<`update${One}`, UpdateInput<F>, OneOutput<Key, F>>,
	Operation<
		`delete${One}`,
		IdInput,
		z.ZodObject<Record<`deleted_${Key}_id`, z.ZodString>>
	>,
];

/** Makes the five operations of a register: list, get, add, update and delete. */
export function recordOperations<
	One extends string,
	Many extends string,
	Key extends string,
	Keys extends string,
	F extends Fields,
>(
	definition: RecordKind<One, Many, Key, Keys, F>,
): RecordOperations<One, Many, Key, Keys, F> {
	const kind: AnyRecordKind = definition;
	const { tool, key, noun, nouns } = kind;
	const about = kind.description ?? kind.help;
	const a = article(noun);
	const toolset = toolsetOf(tool.many);

	const record = object({
		id: z.string(),
		organization_id: z.string(),
		...mapFields(kind.fields, ({ output, description }) =>
			output.describe(description),
		),
		created_at: z.string(),
		updated_at: z.string(),
	});
	const one = object({ [key.one]: record });
	const id = idSchema(kind.kind).describe(`Id of the ${noun}`);
	const { orders, filters } = listingOf(kind);
	const columns = columnsOf(kind);

	const list = defineOperation({
		name: `list${tool.many}`,
		title: `List ${nouns}`,
		description: `List the ${nouns} of an organization, a page at a time, with text search, filters and order. ${about}`,
		toolset,
		access: "read",
		tenant: "organization_id",
		input: listInput(orders, filters),
		output: object({
			[key.many]: z.array(record),
			next_cursor: z.string().nullable(),
		}),
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
			return { [key.many]: page.rows, next_cursor: page.next_cursor };
		},
	});

	const get = defineOperation({
		name: `get${tool.one}`,
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
			return { [key.one]: found };
		},
	});

	const add = defineOperation({
		name: `add${tool.one}`,
		title: `Add ${a}`,
		description: `Add ${a} to an organization. Returns the whole record. ${about}`,
		toolset,
		access: "write",
		tenant: "organization_id",
		input: z.strictObject({
			organization_id: organizationId(),
			...shapeToAdd(kind),
		}),
		output: one,
		run: async (context, { organization_id: _, ...given }) => {
			const newId = await insertRecord(context, kind, prepareNew(kind, given));
			const [added] = await noteStored(context, kind, [{ id: newId }]);
			return { [key.one]: added };
		},
	});

	const update = defineOperation({
		name: `update${tool.one}`,
		title: `Update ${a}`,
		description: `Change ${a}. Only the given fields change; null clears a nullable one. Returns the whole record.`,
		toolset,
		access: "write",
		isIdempotent: true,
		tenant: "id",
		input: z.strictObject({ id, ...shapeToUpdate(kind) }),
		output: one,
		run: async (context, { id, ...given }) => {
			const before = await existing(context, kind, id, "for update");
			const different = prepareUpdate(kind, before, given);
			if (Object.keys(different).length === 0) return { [key.one]: before };
			await updateRecord(context, kind, id, different);
			const [after] = await noteStored(context, kind, [{ id, before }]);
			return { [key.one]: after };
		},
	});

	const remove = defineOperation({
		name: `delete${tool.one}`,
		title: `Delete ${a}`,
		description: `Delete ${a} permanently, with its links. Rejected while other records use it.`,
		toolset,
		access: "admin",
		isDestructive: true,
		isIdempotent: true,
		tenant: "id",
		input: z.strictObject({ id }),
		output: z.object({ [`deleted_${key.one}_id`]: z.string() }),
		run: async (context, { id }) => {
			const before = await existing(context, kind, id, "for update");
			const deleted = changeOf(kind, before, undefined);
			Object.assign(deleted.fields, await noteLostLinks(context, deleted));
			await removeRecord(context, kind, id);
			context.changed(deleted);
			return { [`deleted_${key.one}_id`]: id };
		},
	});

	const operations: unknown = [list, get, add, update, remove];
	// The code above makes the schemas in loops, so TypeScript knows them only as objects with fields
	// of any name. This type adds the names.
	return operations as RecordOperations<One, Many, Key, Keys, F>;
}

/** Makes the schema of an object whose fields are known only at run time. */
const object = (shape: Record<string, z.ZodType>) => z.object(shape);

/**
 * Returns the toolset of a register from its plural name: `ContinualImprovements` →
 * `continual_improvements`.
 */
function toolsetOf(many: string): string {
	return many.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** Returns all orders and filters of a register's list. */
export function listingOf(
	kind: AnyRecordKind,
): Pick<Listing, "orders" | "filters"> {
	return {
		orders: {
			created_at: byTime("created_at"),
			updated_at: byTime("updated_at"),
			...kind.orders,
		},
		filters: {
			...fieldFilters(kind),
			...(kind.due && dueFilters(kind.due)),
			...kind.otherFilters,
		},
	};
}

function fieldFilters(kind: AnyRecordKind): Record<string, Filter> {
	return Object.fromEntries(
		kind.filters.map((name): [string, Filter] => {
			const field = kind.fields[name];
			if (!field)
				throw new Error(`the kind of record ${kind.kind} has no field ${name}`);
			const filter: Filter = {
				schema: field.input.describe(
					`With this ${name}${field.initial === null ? "; null: with none" : ""}`,
				),
				// A name may be too long for an index, so the index contains its sort key. The second
				// condition compares the name itself.
				sql: (parameter) =>
					field.type === "name"
						? `(t.${name}_key = sort_key(${parameter}) and t.${name} = ${parameter})`
						: `t.${name} = ${parameter}`,
				...(field.initial === null && { whenNull: `t.${name} is null` }),
			};
			return [name, filter];
		}),
	);
}
