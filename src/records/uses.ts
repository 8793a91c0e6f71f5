import { z } from "zod";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { recordKinds } from "../registers/all.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { filterOfReferences } from "./record-filters.ts";
import { anyRecordInput, findIdOfAnyKind } from "./reference-ids.ts";
import { readRemainingDuties, remainingDuties } from "./remaining-duties.ts";
import { namedKindOf, namedKinds } from "./searchable-kinds.ts";

/**
 * A way in which records of one kind can name a record of another kind. A list filter finds them.
 */
interface Use {
	kind: string;
	table: string;
	column: string;
	/** Name of the filter in the list. */
	filter: string;
	/** Kind of the records that are named. */
	names: string;
}

const uses: readonly Use[] = [
	...recordKinds.flatMap(({ kind, table, fields, filters }) =>
		filters.flatMap((filter) => {
			const names = fields[filter]?.reference;
			return names ? [{ kind, table, column: filter, filter, names }] : [];
		}),
	),
	...recordKinds.flatMap(({ kind, fields }) =>
		Object.entries(fields).flatMap(([name, { reference: names, join }]) => {
			if (!names || !join) return [];
			const { table, column } = join;
			return [{ kind, table, column, filter: filterOfReferences(name), names }];
		}),
	),
	{
		kind: "device",
		table: "devices",
		column: "owner_id",
		filter: "owner_id",
		names: "people",
	},
];

/**
 * Highest count. Counting more records would make a user wait. A framework, for example, may have
 * 10,000 controls.
 */
const COUNTED = 100;

/**
 * Returns the uses of a record. This takes one statement, however many kinds can name the record. A
 * person also has what the lists of the uses do not show.
 */
export const getRecordUses = defineOperation({
	name: "getRecordUses",
	title: "Get uses of a record",
	description: `Count the records that name this one (by id or reference id), such as the risks that a person owns, in each list: up to ${COUNTED}, then is_more. The filter lists these records.`,
	toolset: "search",
	access: "read",
	tenant: "id",
	input: z.strictObject({
		...anyRecordInput(),
		as_of: asOfShape.as_of.describe(
			"Time in the past; leaves out devices, whose past owners are not kept",
		),
	}),
	output: z.object({
		uses: z.array(
			z.object({
				kind: z.string(),
				filter: z.string(),
				count: z.int(),
				is_more: z.boolean(),
			}),
		),
		left: remainingDuties.describe(
			"Of a person: what reassignRecords would leave for a decision",
		),
	}),
	run: async (present, input) => {
		const context = await contextAsOf(present, input.as_of);
		const { client, membership } = context;
		const { organizationId } = membership;
		const id = await findIdOfAnyKind(context, input.id);
		const own = namedKindOf(namedKinds, id);
		if (!own) throw notFound(id);
		const candidates = uses.filter(
			({ kind, names }) =>
				names === own.kind && !(input.as_of && kind === "device"),
		);
		const texts = candidates.map(
			({ kind, table, column, filter }) => `
					select '${kind}' as kind, '${filter}' as filter, count(*)::int as count
					from (
						select from ${table} t
						where t.organization_id = $1 and t.${column} = $2
						limit ${COUNTED + 1}
					) found`,
		);
		const { rows } = await client.query<{
			kind: string;
			filter: string;
			count: number;
		}>({
			name: `uses.${own.kind}`,
			text: [
				`select '${own.kind}' as kind, 'id' as filter, count(*)::int as count from ${own.table} t where t.organization_id = $1 and t.id = $2`,
				...texts,
			].join(" union all "),
			values: [organizationId, id],
		});
		if (!rows.some(({ filter, count }) => filter === "id" && count > 0)) {
			throw notFound(id);
		}
		return {
			uses: candidates.flatMap(({ kind, filter }) => {
				const count =
					rows.find((row) => row.kind === kind && row.filter === filter)
						?.count ?? 0;
				const isMore = count > COUNTED;
				return count > 0
					? [{ kind, filter, count: isMore ? COUNTED : count, is_more: isMore }]
					: [];
			}),
			left:
				own.kind === "people" && !input.as_of
					? await readRemainingDuties(context, id)
					: [],
		};
	},
});
