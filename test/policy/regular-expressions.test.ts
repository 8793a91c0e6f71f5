import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { type JsonSchema, toJsonSchema } from "../../src/mcp/json-schema.ts";
import { operations } from "../../src/operations.ts";
import { whySuperLinear } from "../support/backtracking.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Found {
	place: string;
	pattern: RegExp;
}

type Node = Record<string, unknown> & { type: string; start: number };

/** Returns all regular expressions of a source file, taken from its syntax tree. */
function patternsOf(path: string, source: string): Found[] {
	const found: Found[] = [];
	const placeOf = ({ start }: Node) =>
		`${path}:${source.slice(0, start).split("\n").length}`;
	const visit = (node: unknown): void => {
		if (typeof node !== "object" || node === null) return;
		const { type, regex, callee } = node as Node;
		if (type === "Literal" && regex) {
			const { pattern, flags } = regex as { pattern: string; flags: string };
			found.push({
				place: placeOf(node as Node),
				pattern: new RegExp(pattern, flags),
			});
		}
		const isMade = type === "NewExpression" || type === "CallExpression";
		if (isMade && (callee as Node).name === "RegExp") {
			const [text, flags] = (node as Node).arguments as Node[];
			found.push({
				place: placeOf(node as Node),
				pattern: new RegExp(textOf(text), flags && textOf(flags)),
			});
		}
		for (const inner of Object.values(node)) visit(inner);
	};
	visit(parseSync(path, source).program);
	return found;
}

/** Returns the text of an expression. A word replaces each variable in a template. */
function textOf(node: Node | undefined): string {
	if (node?.type === "Literal") return String(node.value);
	const { quasis = [], expressions = [] } = (node ?? {}) as {
		quasis?: { value: { cooked: string } }[];
		expressions?: Node[];
	};
	if (
		quasis.length === 0 ||
		expressions.some(({ type }) => type !== "Identifier")
	)
		throw new Error("is made from more than a template with variables");
	return quasis.map(({ value }) => value.cooked).join("word");
}

function* sourceFiles(): Generator<[path: string, source: string]> {
	for (const folder of ["agent", "console/src", "simulator", "src"]) {
		for (const name of readdirSync(join(ROOT, folder), { recursive: true })) {
			const path = `${folder}/${name}`;
			if (!/\.(js|tsx?)$/.test(path)) continue;
			yield [path, readFileSync(join(ROOT, path), "utf8")];
		}
	}
}

/**
 * Returns the patterns in the schemas of inputs, which clients see and Zod checks, including those
 * that come from Zod.
 */
function patternsOfInputs(): Found[] {
	const visit = (place: string, schema: JsonSchema): Found[] => {
		const own =
			typeof schema.pattern === "string"
				? [{ place, pattern: new RegExp(schema.pattern, "u") }]
				: [];
		const inner = Object.values(schema).flatMap((value) =>
			typeof value === "object" && value !== null
				? visit(place, value as JsonSchema)
				: [],
		);
		return [...own, ...inner];
	};
	return operations.flatMap(({ name, input }) =>
		visit(`input of ${name}`, toJsonSchema(input, "input")),
	);
}

test("every regular expression of the product takes at most linear time", () => {
	const found = [
		...[...sourceFiles()].flatMap(([path, source]) => patternsOf(path, source)),
		...patternsOfInputs(),
	];
	expect(found.length).toBeGreaterThan(400);
	const known = new Map<string, string | undefined>();
	const bad = found.flatMap(({ place, pattern }) => {
		const text = String(pattern);
		if (!known.has(text)) known.set(text, whySuperLinear(pattern));
		const why = known.get(text);
		return why ? [`${place}: ${text}: ${why}`] : [];
	});
	expect(bad).toEqual([]);
});

describe("the examination", () => {
	test.for([
		/(a+)+$/,
		/^(a|a)*$/,
		/^(a*)*$/,
		/^(?:(?:a?|b?)c)*$/,
		/^(\w+\s?)*$/,
		/^(?:a{1,20}){1,20}$/,
		/a*a*$/,
		/^a{1,2000}a{1,2000}$/,
		/^https?:\/\/[^\s/?#]+\S*$/i,
		/^\S+@\S+\.\S+$/,
		/a+$/,
		/x.*y/,
		/a(?:.*b)?/g,
		/^\s*a/m,
		/(?:\r\n|\s)+$/,
		/(?=.*b)a/,
		/^(a+)\1$/,
	])("reports %s", (pattern) => {
		expect(whySuperLinear(pattern)).toEqual(expect.any(String));
	});

	test.for([
		/a+/,
		/^a+$/,
		/^(\w+\s)*$/,
		/\s*$/y,
		/^[^@]+@[^@]+$/,
		/^https?:\/\/[^\s/?#]\S*$/i,
		/"[^"]*"/,
		/^(?:a|b)*$/,
		/[a-z]+(?:-[a-z]+)*/g,
		/^[ \t]*$/m,
		/^(?=.*a).*b/,
		/^(a{1,20}b){1,20}$/,
		/[0-9a-f]{8}(-[0-9a-f]{4}){3}$/,
	])("accepts %s", (pattern) => {
		expect(whySuperLinear(pattern)).toBeUndefined();
	});
});
