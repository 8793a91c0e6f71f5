import { z } from "zod";
import type { IdKind } from "../id.ts";
import { recordKinds } from "../registers/all.ts";
import type { Filter } from "./filter.ts";
import {
	type DistinctKind,
	namedKindOf,
	namedKinds,
} from "./searchable-kinds.ts";

/** Snapshots can be linked, but a search does not find them. */
const snapshots: DistinctKind = {
	kind: "snapshot",
	table: "snapshots",
	nameOf: (row) => `${row}.name`,
	status: undefined,
	beside: `jsonb_build_object('created_on', to_char(
		t.created_at at time zone (select o.time_zone from organizations o where o.id = t.organization_id),
		'YYYY-MM-DD'
	))`,
};

const notLinkable = new Set(
	recordKinds.filter((known) => !known.isLinkable).map(({ kind }) => kind),
);

export const linkable = [...namedKinds, snapshots].filter(
	({ kind }) => !notLinkable.has(kind),
);

/** The kinds of records that can be linked: those registers that say so, devices and snapshots. */
export const LINKED = linkable.map(({ kind }) => kind) as [IdKind, ...IdKind[]];

/** Schema of the id of a record that can be linked. */
export const linkableId = z
	.string()
	.refine(
		(text) => namedKindOf(linkable, text) !== undefined,
		`must be the id of a record that can be linked: ${LINKED.join(", ")}`,
	);

/**
 * Returns the schema of a kind that can be linked. It does not list them, because a model would
 * read the list in each register's tool; the error does.
 */
const linkableKind = () =>
	z.string().refine(isLinkable, `must be one of ${LINKED.join(", ")}`);

/** True if records of the kind can be linked. */
export function isLinkable(kind: string): boolean {
	return (LINKED as string[]).includes(kind);
}

/** Returns a filter that finds the records without a link to any record of a kind. */
export function withoutLinked(): Filter {
	return {
		schema: linkableKind().describe("No link to this kind (measure …)"),
		sql: (parameter) => `not exists (
			select from record_links l
			where l.organization_id = t.organization_id and l.first_id = t.id and l.second_kind = ${parameter}
		) and not exists (
			select from record_links l
			where l.organization_id = t.organization_id and l.second_id = t.id and l.first_kind = ${parameter}
		)`,
	};
}
