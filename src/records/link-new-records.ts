import { z } from "zod";
import { AppError, badFields, type FieldIssue } from "../errors.ts";
import { kindNoun } from "../id.ts";
import type { Change, Context } from "../operation.ts";
import { outOfScope } from "../tokens/scopes.ts";
import { DISTINCT } from "./distinct.ts";
import { isLinkable, linkable, linkableId } from "./link-kinds.ts";
import { type Linked, linkRecords, noteLink } from "./links.ts";
import { type NamedKind, namedKindOf } from "./searchable-kinds.ts";
import { obvious } from "./shown-in-tool-list.ts";

const MAX_LINKED = 50;

/** Returns the input field with the records to link a new record to, if its kind can be linked. */
export function linkedShape(kind: string): Record<string, z.ZodType> {
	if (!isLinkable(kind)) return {};
	return { linked_record_ids: linkedRecordIds() };
}

export const linkedRecordIds = () =>
	z
		.array(linkableId)
		.max(MAX_LINKED, { abort: true })
		.refine(...DISTINCT)
		.optional()
		.meta(obvious("Ids of the records to link it to"));

/** The records that one new record is to be linked to, and where in the input they are named. */
export interface WantedLinks {
	ids: readonly string[];
	path: string;
}

/**
 * Finds the records that new records are to be linked to, and locks them until the end of the
 * transaction, so that nobody deletes one of them. Takes one statement for each kind of record.
 * Returns an issue for each record that does not exist. Throws forbidden if the scope of the
 * caller's API token does not permit linkRecords.
 */
export async function findWanted(
	{ client, membership, principal }: Context,
	wanted: readonly WantedLinks[],
): Promise<{ found: ReadonlyMap<string, Linked>; issues: FieldIssue[] }> {
	const found = new Map<string, Linked>();
	const all = new Set(wanted.flatMap(({ ids }) => ids));
	const name = "linked_record_ids";
	const excluded = outOfScope(principal, { ...linkRecords, name });
	if (all.size > 0 && excluded) throw new AppError("forbidden", excluded);
	const byKind = Map.groupBy(
		[...all].sort(),
		(id) => namedKindOf(linkable, id) as NamedKind,
	);
	for (const [{ kind, table, nameOf }, ids] of byKind) {
		const { rows } = await client.query<Linked>(
			`select t.id, left(${nameOf("t")}, 1000) as name, $3 as kind
			from ${table} t where t.organization_id = $1 and t.id = any($2)
			order by t.id for key share`,
			[membership.organizationId, ids, kind],
		);
		for (const row of rows) found.set(row.id, row);
	}
	const issues = wanted.flatMap(({ ids, path }) =>
		ids.flatMap((id, index) =>
			found.has(id)
				? []
				: {
						field: `${path}[${index}]`,
						message: `there is no ${kindNoun(namedKindOf(linkable, id)?.kind ?? "risk")} ${id} in this organization`,
					},
		),
	);
	return { found, issues };
}

/** Finds the records to link one new record to. Throws bad_request if one does not exist. */
export async function requireWanted(
	context: Context,
	ids: readonly string[] | undefined,
	path = "linked_record_ids",
): Promise<Linked[]> {
	if (!ids?.length) return [];
	const wanted = [{ ids, path }];
	const { found, issues } = await findWanted(context, wanted);
	if (issues.length > 0) throw badFields(issues);
	return [...found.values()];
}

/** Links a new record, and notes the links in the history of both ends. */
export async function storeLinks(
	context: Context,
	record: Pick<Change, "kind" | "id" | "name">,
	others: readonly Linked[],
): Promise<void> {
	if (others.length === 0) return;
	const pairs = others.map((other) =>
		[record, other].sort((a, b) => (a.id < b.id ? -1 : 1)),
	);
	const column = (at: 0 | 1, field: "id" | "kind") =>
		pairs.map((pair) => pair[at]?.[field]);
	await context.client.query(
		`insert into record_links (organization_id, first_id, second_id, first_kind, second_kind)
		select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::text[])`,
		[
			context.membership.organizationId,
			column(0, "id"),
			column(1, "id"),
			column(0, "kind"),
			column(1, "kind"),
		],
	);
	for (const other of others) noteLink(context, [record, other], "after");
}
