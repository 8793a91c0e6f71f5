import type { FieldDescription, KindDescription } from "./kind-description.ts";
import { type FieldName, fieldOf } from "./kinds.ts";
import type {
	REGISTER_GROUPS,
	RegisterKind,
	registerKinds,
} from "./register-kinds.ts";
import { comply } from "./register-layouts/comply.ts";
import { inventory } from "./register-layouts/inventory.ts";
import { risk } from "./register-layouts/risk.ts";
import { work } from "./register-layouts/work.ts";
import { LAST_CHANGED, type ListOrder } from "./register-orders.ts";

/** The layout of one register. Fields that it does not name come last. */
export interface Layout<Name extends string = string> {
	/** The columns of the list. The first one links to the record. */
	columns: readonly Name[];
	/** The order of the list if the address names none. */
	order: ListOrder<Name | "open_first" | "created_at">;
	/** The sections of the form and of the record's page. */
	sections: readonly Section<Name>[];
}

export interface Section<Name extends string = string> {
	title: string;
	fields: readonly Name[];
}

/** The layouts of the registers in one group of the navigation. */
export type LayoutsOf<Group extends (typeof REGISTER_GROUPS)[number]> = {
	[Kind in Extract<
		(typeof registerKinds)[number],
		{ group: Group }
	>["kind"]]: Layout<FieldName<Kind>>;
};

const layouts: { [Kind in RegisterKind]: Layout<FieldName<Kind>> } = {
	...risk,
	...comply,
	...inventory,
	...work,
};

export function layoutOf(kind: RegisterKind): Layout {
	return layouts[kind];
}

/**
 * Returns the order of a list if the address names none. A list of finished work alone has the one
 * that was finished last on top. An earlier due date says nothing about it.
 */
export function usualOrder(
	{ kind, done }: KindDescription,
	filters: Readonly<Record<string, unknown>>,
): ListOrder {
	const isDoneOnly =
		done && (filters[done.field] === done.value || filters.is_open === false);
	return isDoneOnly ? LAST_CHANGED : layoutOf(kind).order;
}

/** The field without which another field means nothing. */
const MEANT_BY: Readonly<Record<string, string>> = {
	verified_by_percent: "verified_by_check",
};

/**
 * Returns whether a field means something in a record. For example, the wanted pass rate means
 * nothing if no check is chosen: "100%" would read as if the measure were verified.
 */
export function isMeaningful(
	name: string,
	record: Readonly<Record<string, unknown>>,
): boolean {
	const other = MEANT_BY[name];
	return other === undefined || Boolean(record[other]);
}

/**
 * Returns the sections with their fields. Fields that the layout does not name come in the last
 * section.
 */
export function sectionsOf(
	kind: KindDescription,
): { title: string; fields: FieldDescription[] }[] {
	const { sections } = layoutOf(kind.kind);
	// The heading says whether a record is archived.
	const placed = new Set([
		...sections.flatMap(({ fields }) => fields),
		"archived_at",
	]);
	const rest = kind.fields.filter(({ name }) => !placed.has(name));
	return [
		...sections.map(({ title, fields }) => ({
			title,
			fields: fields.flatMap((name) => fieldOf(kind, name) ?? []),
		})),
		...(rest.length > 0 ? [{ title: "More", fields: rest }] : []),
	];
}
