import { z } from "zod";
import { textArray } from "../db/array.ts";
import { whyNoCheck } from "../devices/check-keys.ts";
import { archivedFilter, canBeArchived } from "./archived-field.ts";
import type { Filter } from "./filter.ts";
import type { AnyRecordKind } from "./kind.ts";
import { isLinkable, withoutLinked } from "./link-kinds.ts";
import { byTime, type Listing } from "./list-pages.ts";
import { whyNoName, whyNoReference } from "./no-match-messages.ts";
import { personFilter } from "./person-filter.ts";
import {
	dateFilters,
	dueFilters,
	openFirst,
	timeFilters,
} from "./range-filters.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { idSchema } from "./text-schemas.ts";

/** Largest number of values of one filter. No choice has more. */
const MAX_CHOICES = 50;

/**
 * Names whose sort key no other name has, except in another case or with other accents. The sort
 * key differs from a folded name only by its digits, and by what stands after 200 characters.
 */
const ITS_OWN_KEY = /^[\p{Script=Latin} &,.()/-]{1,40}$/u;

/** The field that is empty in records that were never reviewed. */
const REVIEWED = "last_review_date";

/** Returns all orders and filters of a register's list. */
export function listingOf(
	kind: AnyRecordKind,
): Pick<Listing, "orders" | "filters"> {
	return {
		orders: {
			created_at: byTime("created_at"),
			updated_at: byTime("updated_at"),
			...kind.orders,
			...(kind.due && { open_first: openFirst(kind.due) }),
		},
		filters: {
			...fieldFilters(kind),
			...personFilters(kind),
			...referencesFilters(kind),
			...(kind.due &&
				dueFilters(kind.due, choicesOf(kind, kind.due.done.field))),
			...rangeFilters(kind),
			...(isLinkable(kind.kind) && { without_linked: withoutLinked() }),
			...emptyFilter(kind),
			...(canBeArchived(kind) && { archived: archivedFilter }),
			...kind.otherFilters,
		},
	};
}

/**
 * Returns a filter that finds the records in which a field is empty. The list of tools names the
 * field of a review, and `add*` beside it names the others. The error names them all. Long texts
 * have no index: if none of 100,000 records match, the query reads them all, which takes 0.2 s.
 */
function emptyFilter({ kind, fields }: AnyRecordKind): Record<string, Filter> {
	const emptyWhen: Record<string, string> = {};
	for (const [name, { type, initial, join, given }] of Object.entries(fields)) {
		if (given === "computed") continue;
		if (join) {
			emptyWhen[name] =
				`not exists (select from ${join.table} j where j.organization_id = t.organization_id and j.${kind}_id = t.id)`;
		} else if (initial === null) {
			const isText = type === "text" || type === "name" || type === "url";
			emptyWhen[name] = isText
				? `coalesce(t.${name}, '') = ''`
				: `t.${name} is null`;
		}
	}
	const names = Object.keys(emptyWhen);
	if (names.length === 0) return {};
	return {
		empty: {
			schema: z
				.string()
				.refine(
					(name) => Object.hasOwn(emptyWhen, name),
					`must be a field that can be empty: ${names.join(", ")}`,
				)
				.describe(
					names.includes(REVIEWED)
						? `Empty field, such as ${REVIEWED}`
						: "Empty field",
				),
			// The statement names the field itself, but it must also use its parameter.
			sql: (parameter, value) =>
				`(${parameter}::text is not null and ${emptyWhen[String(value)]})`,
		},
	};
}

/** Returns the fields that hold a person, such as owner_id. */
export function peopleFields({ fields }: AnyRecordKind): string[] {
	return Object.keys(fields).filter(
		(name) => fields[name]?.reference === "people" && !fields[name]?.join,
	);
}

/** Returns filters by the name or address of a person, such as `owner` beside `owner_id`. */
function personFilters(kind: AnyRecordKind): Record<string, Filter> {
	return Object.fromEntries(
		peopleFields(kind).map((name) => [
			name.replace(/_id$/, ""),
			personFilter(name),
		]),
	);
}

/** Returns the name of the filter by one of the records in a field: `vendor_ids` → `vendor_id`. */
export const filterOfReferences = (field: string) => field.replace(/s$/, "");

/** Returns filters by a record that a field with several references names. */
function referencesFilters({ kind, fields }: AnyRecordKind) {
	const filters: Record<string, Filter> = {};
	for (const [name, { reference, join }] of Object.entries(fields)) {
		if (!reference || !join) continue;
		filters[filterOfReferences(name)] = {
			schema: idSchema(reference).meta(obvious("This one only")),
			sql: (parameter) =>
				`t.id in (select j.${kind}_id from ${join.table} j where j.organization_id = t.organization_id and j.${join.column} = ${parameter})`,
			whyNone: (client, organizationId, value) =>
				whyNoReference(client, reference, organizationId, String(value)),
		};
	}
	return filters;
}

function rangeFilters({
	fields,
	due,
	reminders = [],
	remindedIf = {},
}: AnyRecordKind): Record<string, Filter> {
	return Object.assign(
		{},
		...Object.entries(fields).map(([name, { type, given }]) => {
			if (type === "date") {
				const isShown =
					name !== due?.date &&
					(reminders.length === 0 || reminders.includes(name)) &&
					// A reminder that concerns only some records filters together with their state.
					remindedIf[name] === undefined;
				return dateFilters(name, isShown ? undefined : "nothing");
			}
			return type === "datetime" && given !== "computed"
				? timeFilters(name)
				: {};
		}),
	);
}

function fieldFilters(kind: AnyRecordKind): Record<string, Filter> {
	return Object.fromEntries(
		kind.filters.map((name) => [name, fieldFilter(kind, name)]),
	);
}

function choicesOf({ kind, fields }: AnyRecordKind, name: string): string[] {
	const input = fields[name]?.input;
	if (input instanceof z.ZodEnum) return input.options.map(String);
	throw new Error(`${kind} has no choice ${name}`);
}

function fieldFilter(kind: AnyRecordKind, name: string): Filter {
	const field = kind.fields[name];
	if (!field) throw new Error(`${kind.kind} has no field ${name}`);
	const whenNull = field.initial === null && { whenNull: `t.${name} is null` };
	const text = (what: string) => `${what}${whenNull ? "; null: none" : ""}`;
	if (field.type === "choice") {
		const one = field.input as z.ZodType<string>;
		return {
			isInOrders: true,
			schema: z
				.union([one, z.array(one).min(1).max(MAX_CHOICES)])
				.meta(obvious(text("One or several"))),
			// With one value the index gives the rows in the order of the list.
			sql: (parameter, value) =>
				Array.isArray(value)
					? `t.${name} = any(${parameter}::text[])`
					: `t.${name} = ${parameter}`,
			toParameter: (value) => (Array.isArray(value) ? textArray(value) : value),
			...whenNull,
		};
	}
	if (field.type === "name") {
		return {
			schema: field.input.meta(obvious(text("In upper or lower case"))),
			// A name may be too long for an index, so the index contains its sort key. The second
			// condition compares the name itself. Most are spelled alike, so few have to be folded.
			sql: (parameter, value) => {
				const hasKey = `t.${name}_key = sort_key(${parameter})`;
				if (ITS_OWN_KEY.test(String(value))) return hasKey;
				return `(${hasKey} and (
					t.${name} = ${parameter} or search_fold(t.${name}) = search_fold(${parameter})
				))`;
			},
			whyNone: (client, organizationId, value) =>
				whyNoName(client, kind, name, organizationId, String(value)),
			...whenNull,
		};
	}
	const { reference } = field;
	return {
		...(field.type === "integer" && { isInOrders: true }),
		schema: field.input.meta(obvious(text("This one only"))),
		sql: (parameter) => `t.${name} = ${parameter}`,
		...(field.type === "check" && {
			whyNone: (client, organizationId, value) =>
				whyNoCheck(client, organizationId, String(value)),
		}),
		...(reference && {
			whyNone: (client, organizationId, value) =>
				whyNoReference(client, reference, organizationId, String(value)),
		}),
		...whenNull,
	};
}
