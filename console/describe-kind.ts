import { toJsonSchema } from "../src/mcp/json-schema.ts";
import { canBeArchived } from "../src/records/archived-field.ts";
import { besideName } from "../src/records/beside-name.ts";
import { COUNTRIES, countryName } from "../src/records/countries.ts";
import type { Field } from "../src/records/field.ts";
import type { Filter } from "../src/records/filter.ts";
import type { AnyRecordKind } from "../src/records/kind.ts";
import { choiceLabel, labelOf } from "../src/records/labels.ts";
import { timeFilters } from "../src/records/range-filters.ts";
import { filterOfReferences } from "../src/records/record-filters.ts";
import type {
	Choice,
	FieldDescription,
	FilterDescription,
	KindDescription,
} from "./src/kind-description.ts";
import type { RegisterKind } from "./src/register-kinds.ts";

/** Returns the description of a register that the console needs. */
export function describeKind(definition: AnyRecordKind): KindDescription {
	const { kind, tool, key, noun, nouns, help, title, fields } = definition;
	const { subject = [] } = definition;
	const described = Object.entries(fields).map(([name, field]) =>
		describeField(name, field),
	);
	return {
		kind: kind as RegisterKind,
		tool,
		key,
		noun,
		nouns,
		help,
		title: title ?? null,
		subject,
		beside: besideName(definition),
		isLinkable: definition.isLinkable ?? false,
		fields: described,
		filters: [
			...definition.filters.flatMap((name) =>
				described
					.filter((field) => field.name === name)
					.map(({ type, label, choices, reference, isNullable }) => ({
						name,
						type,
						label,
						isNullable,
						...(choices && { choices }),
						...(reference && { reference }),
					})),
			),
			...describeReferences(definition),
			...describeDue(definition),
			...describeFilters(periodFilters(definition)),
			...describeFilters(definition.otherFilters ?? {}),
			...describeUnlinked(definition),
			...describeNeverReviewed(definition),
			...describeReminders(definition),
			...(canBeArchived(definition) ? [ARCHIVED] : []),
		],
		done: definition.due?.done ?? null,
		remindedIf: definition.remindedIf ?? {},
		orders: ["created_at", "updated_at", ...Object.keys(definition.orders)],
	};
}

interface Limits {
	enum?: (string | null)[];
	maxLength?: number;
	minimum?: number;
	maximum?: number;
	type?: string | string[];
}

function describeField(name: string, field: Field): FieldDescription {
	const limits = toJsonSchema(field.input, "input") as Limits;
	const choices = choicesOf(field, limits);
	const { maxLength, minimum, maximum } = limits;
	return {
		name,
		label: labelOf(name),
		type: field.type,
		help: field.help,
		given: field.given,
		isNullable: isNullable(limits),
		initial: (field.initial ?? null) as FieldDescription["initial"],
		...(choices && { choices }),
		...(field.reference && { reference: field.reference as RegisterKind }),
		...(maxLength !== undefined && { maxLength }),
		...(minimum !== undefined && { min: minimum }),
		...(maximum !== undefined && { max: maximum }),
	};
}

function choicesOf(field: Field, limits: Limits): Choice[] | undefined {
	if (field.type === "countries") {
		return [...COUNTRIES]
			.map((value) => ({ value, label: countryName(value) }))
			.sort((a, b) => a.label.localeCompare(b.label, "en"));
	}
	return limits.enum
		?.filter((value) => value !== null)
		.map((value) => ({ value, label: choiceLabel(value) }));
}

/** Returns the filters by one of the records that a field lists, such as `vendor_ids`. */
function describeReferences({ fields }: AnyRecordKind): FilterDescription[] {
	return Object.entries(fields).flatMap(([field, { reference, join }]) => {
		if (!reference || !join) return [];
		const name = filterOfReferences(field);
		return [
			{
				name,
				label: labelOf(name),
				type: "reference" as const,
				isNullable: false,
				reference: reference as RegisterKind,
			},
		];
	});
}

const ARCHIVED: FilterDescription = {
	name: "archived",
	label: "Archived",
	type: "flag",
	isNullable: false,
};

/** Returns the filters for the days of reviews and expiries, which the home page links to. */
function describeReminders({ reminders = [] }: AnyRecordKind) {
	return reminders.map(
		(name): FilterDescription => ({
			name,
			label: labelOf(name),
			type: "reminder",
			isNullable: false,
		}),
	);
}

/** The most frequent filters for records without a link, by the kind of the linked record. */
const MISSING: Partial<Record<string, readonly Choice[]>> = {
	control: [
		{ value: "evidence", label: "Without evidence" },
		{ value: "measure", label: "Without measures" },
	],
	measure: [{ value: "evidence", label: "Without evidence" }],
};

/** Returns the filter for records that have no link to some kind, such as evidence. */
function describeUnlinked({ kind }: AnyRecordKind): FilterDescription[] {
	const choices = MISSING[kind];
	if (!choices) return [];
	const name = "without_linked";
	return [{ name, label: "Gaps", type: "choice", isNullable: false, choices }];
}

/** Returns the filter for records that were never reviewed, if they have reviews. */
function describeNeverReviewed({ kind }: AnyRecordKind): FilterDescription[] {
	if (kind !== "vendor") return [];
	const label = "Never reviewed";
	const choices = [{ value: "last_review_date", label }];
	return [{ name: "empty", label, type: "flag", isNullable: false, choices }];
}

/** Returns the filters for the due date, if the records have one (see records/range-filters.ts). */
function describeDue({ due }: AnyRecordKind): FilterDescription[] {
	if (!due) return [];
	return [
		{ name: "due", label: labelOf(due.date), type: "due", isNullable: false },
		{ name: "is_open", label: "Open only", type: "flag", isNullable: false },
	];
}

/** Returns the filters for the fields that hold a time. */
function periodFilters({ fields }: AnyRecordKind): Record<string, Filter> {
	return Object.assign(
		{},
		...Object.keys(fields)
			.filter(
				(name) =>
					fields[name]?.type === "datetime" &&
					fields[name].given !== "computed",
			)
			.map(timeFilters),
	);
}

/**
 * Returns the filters that do not compare one field with a value. Two filters that form a range
 * become one filter with two ends: `min_x` with `max_x`, and `x_from` with `x_until`.
 */
function describeFilters(filters: Record<string, Filter>): FilterDescription[] {
	return Object.entries(filters).flatMap(
		([name, { schema }]): FilterDescription[] => {
			const limits = toJsonSchema(schema, "input") as Limits;
			const range = rangeOf(name, filters);
			if (range) {
				const { first, type, end } = range;
				const described = { name: end, label: labelOf(end), type };
				return first === name ? [{ ...described, isNullable: false }] : [];
			}
			const type =
				limits.type === "boolean"
					? "flag"
					: limits.type === "integer"
						? "integer"
						: "name";
			return [
				{ name, label: labelOf(name), type, isNullable: isNullable(limits) },
			];
		},
	);
}

/**
 * Returns the two filters of the range that `name` belongs to, or undefined if it belongs to none.
 */
function rangeOf(name: string, filters: Record<string, Filter>) {
	for (const { type, pattern, names } of RANGES) {
		const end = pattern.exec(name)?.[1];
		const [first, last] = names(end ?? "");
		if (end && first in filters && last in filters) return { type, end, first };
	}
	return undefined;
}

const RANGES = [
	{
		type: "score",
		pattern: /^(?:min|max)_(.+)$/,
		names: (end: string): [string, string] => [`min_${end}`, `max_${end}`],
	},
	{
		type: "period",
		pattern: /^(.+)_(?:from|until)$/,
		names: (end: string): [string, string] => [`${end}_from`, `${end}_until`],
	},
] as const;

function isNullable({ type }: Limits): boolean {
	return Array.isArray(type) && type.includes("null");
}
