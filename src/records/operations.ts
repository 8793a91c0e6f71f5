import { z } from "zod";
import { defineOperation, type Operation } from "../operation.ts";
import { appendedTexts, appendShape, longTextsOf } from "./append.ts";
import { canBeArchived, IN_USE } from "./archived-field.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { idempotencyShape } from "./idempotency.ts";
import { shapeToAdd, shapeToUpdate } from "./input.ts";
import {
	type AnyRecordKind,
	type DerivedValues,
	type Fields,
	type RecordKind,
	toolsetOf,
} from "./kind.ts";
import { linkedShape, requireWanted, storeLinks } from "./link-new-records.ts";
import { noteLostLinks } from "./links.ts";
import {
	listInput,
	organizationId,
	pageShape,
	readPage,
} from "./list-pages.ts";
import { listingOf, peopleFields } from "./record-filters.ts";
import { findId, recordInput } from "./reference-ids.ts";
import { requireAccepted } from "./refused-values.ts";
import { removeRecord } from "./removal.ts";
import { requireUnreserved } from "./reserved-updates.ts";
import {
	columnsOf,
	detailSchema,
	resultShape,
	rowShape,
} from "./result-rows.ts";
import { addRecord, changeRecord, existing } from "./store.ts";
import { article } from "./text-schemas.ts";
import { requireUnchanged, unchangedShape } from "./unchanged.ts";
import { changeOf, prepareNew, prepareUpdate, type Values } from "./values.ts";

type RecordSchema<F extends Fields, D extends DerivedValues> = z.ZodObject<
	{
		id: z.ZodString;
		organization_id: z.ZodString;
		created_at: z.ZodString;
		updated_at: z.ZodString;
	} & { [Name in keyof F]: F[Name]["output"] } & {
		[Name in keyof D]: D[Name]["output"];
	}
>;

type AddInput<F extends Fields> = z.ZodObject<
	{ organization_id: z.ZodString } & typeof idempotencyShape & {
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
	} & typeof unchangedShape
>;

type IdInput = z.ZodObject<{ id: z.ZodString }>;
type GetInput = z.ZodObject<{ id: z.ZodString } & typeof asOfShape>;
type OneOutput<
	Key extends string,
	F extends Fields,
	D extends DerivedValues,
> = z.ZodObject<Record<Key, RecordSchema<F, D>>>;

/** The types of a register's operations. They follow from its definition. */
export type RecordOperations<
	One extends string,
	Many extends string,
	Key extends string,
	Keys extends string,
	F extends Fields,
	D extends DerivedValues,
> = readonly [
	Operation<
		`list${Many}`,
		ReturnType<typeof listInput>,
		z.ZodObject<Record<Keys, z.ZodArray<RecordSchema<F, D>>> & typeof pageShape>
	>,
	Operation<`get${One}`, GetInput, OneOutput<Key, F, D>>,
	Operation<`add${One}`, AddInput<F>, OneOutput<Key, F, D>>,
	Operation<`update${One}`, UpdateInput<F>, OneOutput<Key, F, D>>,
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
	D extends DerivedValues,
>(
	definition: RecordKind<One, Many, Key, Keys, F, D>,
): RecordOperations<One, Many, Key, Keys, F, D> {
	const kind: AnyRecordKind = definition;
	const { tool, key, noun, nouns } = kind;
	const about = kind.description ?? kind.help;
	const a = article(noun);
	const toolset = toolsetOf(kind);

	const one = object({ [key.one]: object(resultShape(kind)) });
	const named = recordInput(kind);
	const { orders, filters } = listingOf(kind);
	const longTexts = longTextsOf(kind);

	const list = defineOperation({
		name: `list${tool.many}`,
		title: `List ${nouns}`,
		description: `List ${nouns}. ${about}${canBeArchived(kind) ? " Archived ones are left out." : ""}`,
		toolset,
		access: "read",
		tenant: "organization_id",
		input: listInput(orders, filters, searchedText(kind)).extend({
			detail: detailSchema(),
			...asOfShape,
		}),
		output: object({
			[key.many]: z.array(object(rowShape(kind))),
			...pageShape,
		}),
		run: async (context, { as_of, ...input }) => {
			const { client } = await contextAsOf(context, as_of);
			const { rows, ...page } = await readPage(
				client,
				{
					tool: [`list${tool.many}`, as_of].filter(Boolean).join("."),
					columns: columnsOf(kind, input.detail),
					from: `${kind.table} t`,
					variant: input.detail === "brief" ? ".brief" : "",
					...(as_of === undefined && { searched: kind.table }),
					people: peopleFields(kind),
					...(canBeArchived(kind) &&
						!asksForArchived(input.filter) && {
							shown: IN_USE,
						}),
					orders,
					filters,
				},
				input,
			);
			return { [key.many]: rows, ...page };
		},
	});

	const get = defineOperation({
		name: `get${tool.one}`,
		title: `Get ${a}`,
		description: `Read ${a} in full.`,
		toolset,
		access: "read",
		tenant: "id",
		input: z.strictObject({ ...named, ...asOfShape }),
		output: one,
		run: async (context, input) => {
			const then = await contextAsOf(context, input.as_of);
			const id = await findId(then, kind, input.id);
			return { [key.one]: await existing(then, kind, id) };
		},
	});

	const add = defineOperation({
		name: `add${tool.one}`,
		title: `Add ${a}`,
		description: `Add ${a}.`,
		toolset,
		access: "write",
		tenant: "organization_id",
		input: z.strictObject({
			organization_id: organizationId(),
			...shapeToAdd(kind),
			...linkedShape(kind.kind),
			...idempotencyShape,
		}),
		output: one,
		run: async (context, { organization_id: _, ...input }) => {
			const { linked_record_ids: ids, ...given }: Values = input;
			const values = prepareNew(kind, given);
			// linkedShape, which is made in a loop, has checked that they are ids.
			const linked = await requireWanted(context, ids as string[] | undefined);
			const added = await addRecord(context, kind, values);
			const { id, name } = changeOf(kind, undefined, added);
			await storeLinks(context, { kind: kind.kind, id, name }, linked);
			return { [key.one]: added };
		},
	});

	const update = defineOperation({
		name: `update${tool.one}`,
		title: `Update ${a}`,
		description: `Change given fields, as in add${tool.one}; null clears.`,
		toolset,
		access: "write",
		// A text that a caller appends twice is stored twice.
		isIdempotent: longTexts.length === 0,
		tenant: "id",
		input: z.strictObject({
			...named,
			...shapeToUpdate(kind),
			...appendShape(longTexts),
			...unchangedShape,
		}),
		output: one,
		run: async (context, { id: idOrReference, if_updated_at, ...input }) => {
			const { append, organization_id: _, ...given }: Values = input;
			const id = await findId(context, kind, idOrReference);
			const before = await existing(context, kind, id, "for update");
			requireUnchanged(noun, before, if_updated_at);
			const different = prepareUpdate(kind, before, {
				...given,
				...appendedTexts(noun, before, given, append),
			});
			if (Object.keys(different).length === 0) return { [key.one]: before };
			const update = { before, values: different };
			await requireUnreserved(context, kind, update);
			const { client, membership } = context;
			await requireAccepted(client, kind, membership.organizationId, update);
			return {
				[key.one]: await changeRecord(context, kind, before, different),
			};
		},
	});

	const remove = defineOperation({
		name: `delete${tool.one}`,
		title: `Delete ${a}`,
		description: `Delete ${a} and its links, unless it is in use.`,
		toolset,
		access: "admin",
		isDestructive: true,
		isIdempotent: true,
		tenant: "id",
		input: z.strictObject(named),
		output: z.object({ [`deleted_${key.one}_id`]: z.string() }),
		run: async (context, input) => {
			const id = await findId(context, kind, input.id);
			const before = await existing(context, kind, id, "for update");
			const deleted = changeOf(kind, before, undefined);
			Object.assign(deleted.fields, await noteLostLinks(context, deleted));
			await removeRecord(context, kind, id);
			context.changed(deleted);
			context.happened({
				type: "record.deleted",
				record_id: id,
				data: { kind: kind.kind },
			});
			return { [`deleted_${key.one}_id`]: id };
		},
	});

	const operations: unknown = [list, get, add, update, remove];
	// The code above makes the schemas in loops, so TypeScript knows them only as objects with fields
	// of any name. This type adds the names.
	return operations as RecordOperations<One, Many, Key, Keys, F, D>;
}

/** True if a filter says whether records are archived. */
function asksForArchived(filter: object | undefined): boolean {
	return filter && "archived" in filter ? filter.archived !== undefined : false;
}

/** Describes what the search of a list compares with its words. */
function searchedText(kind: AnyRecordKind): string {
	const people = peopleFields(kind).map((name) => name.replace(/_id$/, ""));
	const names = people.map((person) => `its ${person}'s name`);
	return ["Words, all in its texts", ...names].join(" or ");
}

/** Makes the schema of an object whose fields are known only at run time. */
const object = (shape: Record<string, z.ZodType>) => z.object(shape);
