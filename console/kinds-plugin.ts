import type { Plugin } from "vite";
import { toJsonSchema } from "../src/mcp/json-schema.ts";
import { operations } from "../src/operations.ts";
import { COUNTRIES } from "../src/records/countries.ts";
import type { Field } from "../src/records/field.ts";
import type { AnyRecordKind } from "../src/records/kind.ts";
import type { Filter } from "../src/records/list-pages.ts";
import { recordKinds } from "../src/registers/all.ts";
import { toolsetsOf } from "../src/tokens/scopes.ts";
import type {
	Choice,
	FieldDescription,
	FilterDescription,
	KindDescription,
} from "./src/kind-description.ts";
import type { RegisterKind } from "./src/register-kinds.ts";

const NAME = "virtual:kinds";
const RESOLVED = `\0${NAME}`;

/**
 * `virtual:kinds`: the registers as the server defines them, made while the console is
 * built. So a record is spelt once, and no code of the server reaches the browser.
 */
export function kindsPlugin(): Plugin {
	return {
		name: "assay-kinds",
		resolveId: (id) => (id === NAME ? RESOLVED : undefined),
		load: (id) =>
			id === RESOLVED
				? [
						`export const kinds = ${JSON.stringify(recordKinds.map(describeKind))};`,
						`export const toolsets = ${JSON.stringify(toolsetsOf(operations))};`,
					].join("\n")
				: undefined,
	};
}

function describeKind(definition: AnyRecordKind): KindDescription {
	const { kind, tool, key, noun, nouns, about, title, fields } = definition;
	const described = Object.entries(fields).map(([name, field]) =>
		describeField(name, field),
	);
	return {
		kind: kind as RegisterKind,
		tool,
		key,
		noun,
		nouns,
		about: aboutInWords(about),
		title: title ?? null,
		fields: described,
		filters: [
			...definition.filters.flatMap((name) =>
				described
					.filter((field) => field.name === name)
					.map(({ type, label, choices, reference, isNullable }) => ({
						...{ name, type, label, isNullable },
						...(choices && { choices }),
						...(reference && { reference }),
					})),
			),
			...describeDue(definition),
			...describeFilters(definition.otherFilters ?? {}),
		],
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
		help: helpOf(field.description),
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
		const names = new Intl.DisplayNames("en", { type: "region" });
		return [...COUNTRIES]
			.map((value) => ({ value, label: names.of(value) ?? value }))
			.sort((a, b) => a.label.localeCompare(b.label, "en"));
	}
	return limits.enum
		?.filter((value) => value !== null)
		.map((value) => ({ value, label: inWords(value.toLowerCase()) }));
}

/** Whether it is done, and by when it is to be (see records/due.ts). */
function describeDue({ due }: AnyRecordKind): FilterDescription[] {
	if (!due) return [];
	return [
		{ name: "due", label: labelOf(due.date), type: "due", isNullable: false },
		{ name: "is_open", label: "Open only", type: "flag", isNullable: false },
	];
}

/** Those that are not simply a field's value. `min_x` with `max_x` is one filter with two ends. */
function describeFilters(filters: Record<string, Filter>): FilterDescription[] {
	return Object.entries(filters).flatMap(
		([name, { schema }]): FilterDescription[] => {
			const limits = toJsonSchema(schema, "input") as Limits;
			const range = /^(min|max)_(.+)$/.exec(name);
			const end = range?.[2];
			if (end && `min_${end}` in filters && `max_${end}` in filters) {
				return range[1] === "max"
					? []
					: [
							{
								name: end,
								label: labelOf(end),
								type: "score",
								isNullable: false,
							},
						];
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

function isNullable({ type }: Limits): boolean {
	return Array.isArray(type) && type.includes("null");
}

/** `owner_id` → `Owner`, `vendor_ids` → `Vendors`, `website_url` → `Website`. */
function labelOf(name: string): string {
	return inWords(name.replace(/_ids$/, "s").replace(/_(id|url)$/, ""));
}

const IN_CAPITALS = new Set(["it", "dpa", "id", "url"]);
const SPELT: Record<string, string> = { todo: "to do", email: "e-mail" };

/** `dpa_url` in words as people write them, beginning with a capital. */
function inWords(name: string): string {
	const words = name
		.replace(/^non_/, "non-")
		.split("_")
		.map((word) =>
			IN_CAPITALS.has(word) ? word.toUpperCase() : (SPELT[word] ?? word),
		)
		.join(" ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Without what only a program has to be told. */
function helpOf(description: string): string {
	return description
		.replace(/, YYYY-MM-DD$/, "")
		.replace("; replaces the whole list", "")
		.replace(/, 1 \(lowest\) to 5 \(highest\)/, "")
		.replace(" unless given on add", " unless given")
		.replace(/, as ISO 3166-1 codes such as DE/, "")
		.replace("EXCLUDED", "excluded");
}

/** Names of operations mean nothing to who uses the console. */
function aboutInWords(about: string): string {
	return about.replace(/;[^;]*\b(list|link|get)[A-Z]\w+[^;]*\.$/, ".");
}
