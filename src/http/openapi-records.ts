import type { JsonSchema } from "../mcp/json-schema.ts";
import { toolsetOf } from "../records/kind.ts";
import { recordKinds } from "../registers/all.ts";

/** A tool's schemas, as the OpenAPI document describes them. */
export interface ToolSchemas {
	toolset: string;
	input: JsonSchema;
	output: JsonSchema;
}

type Properties = Record<string, JsonSchema>;

/**
 * Names the records in results, so that a generated client has one class for a risk and not one for
 * each tool that returns a risk. `Risk` is what getRisk, addRisk and updateRisk return. `RiskRow`
 * is a row of listRisks, which lacks some fields if it is brief. `RiskTreatment` has the choices of
 * a register's field, in inputs too. Returns the named schemas. The tools then refer to them.
 */
export function nameRecords(tools: Map<string, ToolSchemas>): Properties {
	const named: Properties = {};
	const names = new Map<string, string>();
	for (const [name, schema] of [...foundRecords(tools), ...foundRows(tools)]) {
		const json = JSON.stringify(schema);
		if (names.has(json) || named[name]) continue;
		named[name] = schema;
		names.set(json, name);
	}
	for (const tool of tools.values()) {
		tool.output = withProperties(tool.output, (_, property) => {
			const items = property.items as JsonSchema | undefined;
			const ofItems = items && names.get(JSON.stringify(items));
			if (ofItems) return { ...property, items: refTo(ofItems) };
			const own = names.get(JSON.stringify(property));
			return own ? refTo(own) : property;
		});
	}
	return { ...nameChoices(tools, named), ...named };
}

/**
 * Returns the objects that at least two tools return under the same name. Where their schemas
 * differ, the one that most tools have gets the name.
 */
function foundRecords(tools: Map<string, ToolSchemas>): [string, JsonSchema][] {
	const counts = new Map<string, Map<string, number>>();
	for (const { output } of tools.values()) {
		for (const [name, schema] of Object.entries(propertiesOf(output))) {
			if (!schema.properties) continue;
			const json = JSON.stringify(schema);
			const ofName = counts.get(name) ?? new Map<string, number>();
			counts.set(name, ofName.set(json, (ofName.get(json) ?? 0) + 1));
		}
	}
	return [...counts].flatMap(([name, ofName]): [string, JsonSchema][] => {
		const [[json, count] = ["", 0]] = [...ofName].sort(
			([, one], [, other]) => other - one,
		);
		return count > 1 ? [[pascal(name), JSON.parse(json)]] : [];
	});
}

/** Returns the rows of lists whose records have a name. */
function foundRows(tools: Map<string, ToolSchemas>): [string, JsonSchema][] {
	const singulars = new Map(recordKinds.map(({ key }) => [key.many, key.one]));
	for (const { output } of tools.values()) {
		for (const [name, schema] of Object.entries(propertiesOf(output))) {
			if (schema.properties) singulars.set(`${name}s`, name);
		}
	}
	return [...tools].flatMap(([tool, { output }]) =>
		Object.entries(propertiesOf(output)).flatMap(
			([name, { items }]): [string, JsonSchema][] => {
				const one = singulars.get(name);
				const isRow =
					tool.startsWith("list") && (items as JsonSchema)?.properties;
				return one && isRow ? [[`${pascal(one)}Row`, items as JsonSchema]] : [];
			},
		),
	);
}

/** Names the choices of each register's fields, and lets the register's tools refer to them. */
function nameChoices(
	tools: Map<string, ToolSchemas>,
	records: Properties,
): Properties {
	const choices: Properties = {};
	for (const kind of recordKinds) {
		const record = pascal(kind.key.one);
		const names = new Map<string, string>();
		for (const [field, schema] of Object.entries(
			propertiesOf(records[record] ?? {}),
		)) {
			if (schema.type !== "string" || !schema.enum) continue;
			const name = `${record}${pascal(field)}`;
			choices[name] = { type: "string", enum: schema.enum };
			names.set(`${field} ${JSON.stringify(schema.enum)}`, name);
		}
		const use = (schema: JsonSchema) =>
			withChoices(schema, (field, values) => names.get(`${field} ${values}`));
		for (const name of [record, `${record}Row`]) {
			if (records[name]) records[name] = use(records[name]);
		}
		for (const tool of tools.values()) {
			if (tool.toolset === toolsetOf(kind)) tool.input = use(tool.input);
		}
	}
	return choices;
}

/** Replaces the choices that have a name, also within objects, lists and alternatives. */
function withChoices(
	schema: JsonSchema,
	nameOf: (field: string, values: string) => string | undefined,
	field = "",
): JsonSchema {
	const { type, enum: values, ...rest } = schema;
	const name =
		type === "string" && values !== undefined
			? nameOf(field, JSON.stringify(values))
			: undefined;
	if (name) return { ...refTo(name), ...rest };
	const { items, anyOf } = schema;
	const within = (inner: JsonSchema) => withChoices(inner, nameOf, field);
	return withProperties(
		{
			...schema,
			...(items !== undefined && { items: within(items as JsonSchema) }),
			...(anyOf !== undefined && {
				anyOf: (anyOf as JsonSchema[]).map(within),
			}),
		},
		(inner, property) => withChoices(property, nameOf, inner),
	);
}

/**
 * Marks each time in a result as a time. A name that ends in `_at` means a time in UTC, in the form
 * of RFC 3339.
 */
export function withTimes(schema: JsonSchema): JsonSchema {
	const { items, anyOf } = schema;
	return withProperties(
		{
			...schema,
			...(items !== undefined && { items: withTimes(items as JsonSchema) }),
			...(anyOf !== undefined && {
				anyOf: (anyOf as JsonSchema[]).map(withTimes),
			}),
		},
		(name, property) =>
			name.endsWith("_at") && [property.type].flat().includes("string")
				? { ...property, format: "date-time" }
				: withTimes(property),
	);
}

function withProperties(
	schema: JsonSchema,
	change: (name: string, property: JsonSchema) => JsonSchema,
): JsonSchema {
	if (!schema.properties) return schema;
	return {
		...schema,
		properties: Object.fromEntries(
			Object.entries(propertiesOf(schema)).map(([name, property]) => [
				name,
				change(name, property),
			]),
		),
	};
}

const propertiesOf = ({ properties }: JsonSchema) =>
	(properties ?? {}) as Properties;

const refTo = (name: string): JsonSchema => ({
	$ref: `#/components/schemas/${name}`,
});

/** Returns `ContinualImprovement` for `continual_improvement`. */
const pascal = (name: string) =>
	name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
